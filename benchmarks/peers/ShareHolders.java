import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.ObjectWriter;
import com.fasterxml.jackson.databind.type.TypeFactory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.state.KeyValueStore;

/**
 * Who holds which US shares (position to ticker, in JSON): the table of D. Lebrero in Kafka Streams, over what a topic holds now.
 *
 * <p>{@code Rounds} says how it is called. A value that is not a position ends the program: the
 * input of a benchmark is clean.
 */
public final class ShareHolders {
    private static final Set<String> US = Set.of("NYSE", "NASDAQ");
    private static final ObjectMapper JSON =
            new ObjectMapper().disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES);
    private static final ObjectReader POSITION = JSON.readerFor(Position.class);
    private static final ObjectReader READ = JSON.readerFor(
            TypeFactory.defaultInstance().constructMapType(TreeMap.class, String.class, String.class));
    private static final ObjectWriter WRITE = JSON.writerFor(TreeMap.class);
    private static final Serde<String> TEXT = Serdes.String();
    private static final Serde<TreeMap<String, String>> HELD =
            Serdes.serdeFrom((topic, held) -> written(held), (topic, bytes) -> read(READ, bytes));

    private record Position(String client, String ticker, String exchange) {}

    /** A parsed position with its bytes, which the store keeps as they are. */
    private record Parsed(Position position, byte[] bytes) {
        static Parsed of(byte[] bytes) {
            return bytes == null ? null : new Parsed(read(POSITION, bytes), bytes);
        }
    }

    private static final Serde<Parsed> PARSED = Serdes.serdeFrom(
            (topic, parsed) -> parsed == null ? null : parsed.bytes(),
            (topic, bytes) -> Parsed.of(bytes));

    private static Topology topology(String source, String target, Properties settings) {
        StreamsBuilder builder = new StreamsBuilder();
        Materialized<String, TreeMap<String, String>, KeyValueStore<Bytes, byte[]>> holders =
                Materialized.as("holders");
        holders.withKeySerde(TEXT).withValueSerde(HELD);
        // Each message is parsed as it is read, and again when the store's cache lets go of it.
        builder.table(source, Consumed.with(TEXT, PARSED), Materialized.as("positions"))
                .filter((id, parsed) -> US.contains(parsed.position().exchange()))
                .groupBy(ShareHolders::byClient, Grouped.with("by-client", TEXT, TEXT))
                .aggregate(
                        TreeMap<String, String>::new,
                        (client, held, all) -> with(all, held),
                        (client, held, all) -> without(all, held),
                        holders)
                .toStream()
                .to(target, Produced.with(TEXT, HELD));
        return builder.build(settings);
    }

    private static KeyValue<String, String> byClient(String id, Parsed parsed) {
        return KeyValue.pair(parsed.position().client(), id + "\t" + parsed.position().ticker());
    }

    // A store hands out a fresh copy each time: the map may be changed in place.
    private static TreeMap<String, String> with(TreeMap<String, String> all, String held) {
        String[] idAndTicker = held.split("\t");
        all.put(idAndTicker[0], idAndTicker[1]);
        return all;
    }

    private static TreeMap<String, String> without(TreeMap<String, String> all, String held) {
        all.remove(held.split("\t")[0]);
        return all.isEmpty() ? null : all;
    }

    private static <T> T read(ObjectReader reader, byte[] bytes) {
        try {
            return bytes == null ? null : reader.readValue(bytes);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static byte[] written(TreeMap<String, String> held) {
        try {
            return held == null ? null : WRITE.writeValueAsBytes(held);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Ends when all that the source holds has been seen, committed, and is in the target. */
    private static long run(Admin admin, Properties settings, long deadline) throws Exception {
        String source = settings.getProperty("source");
        String group = settings.getProperty("application.id");
        long[] ends = Rounds.ends(admin, source);
        Topology topology = topology(source, settings.getProperty("target"), settings);
        Rounds.Progress in = new Rounds.Progress(ends);
        Rounds.Progress out = new Rounds.Progress(new long[ends.length]);
        in.attach(topology, source);
        out.attach(topology, "by-client-repartition");

        KafkaStreams streams = Rounds.start(topology, settings);
        Rounds.await(() -> in.reached(ends), deadline);
        // A commit empties the cache of the first store into the topic between the two halves ...
        Rounds.await(() -> Rounds.committed(admin, group, source, ends), deadline);
        long[] between = Rounds.ends(admin, group + "-by-client-repartition");
        Rounds.await(() -> out.reached(between), deadline);
        // ... and the last commit, on closing, that of the second store into the target.
        Rounds.close(streams, deadline);
        return in.records();
    }

    public static void main(String[] arguments) throws Exception {
        Rounds.all(ShareHolders::run, arguments);
    }
}
