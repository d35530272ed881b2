import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.ObjectWriter;
import com.fasterxml.jackson.databind.type.TypeFactory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
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
 * Who holds a US share: the table of D. Lebrero in Kafka Streams, over what a topic holds now.
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
            TypeFactory.defaultInstance().constructCollectionType(TreeSet.class, String.class));
    private static final ObjectWriter WRITE = JSON.writerFor(TreeSet.class);
    private static final Serde<String> TEXT = Serdes.String();
    private static final Serde<TreeSet<String>> IDS =
            Serdes.serdeFrom((topic, ids) -> written(ids), (topic, bytes) -> read(READ, bytes));

    private record Position(String client, String exchange) {}

    private static Topology topology(String source, String target, Properties settings) {
        StreamsBuilder builder = new StreamsBuilder();
        Materialized<String, TreeSet<String>, KeyValueStore<Bytes, byte[]>> holders =
                Materialized.as("holders");
        holders.withKeySerde(TEXT).withValueSerde(IDS);
        // Values stay bytes until they leave the cache of the store: only the winners are parsed.
        Consumed<Bytes, byte[]> raw = Consumed.with(Serdes.Bytes(), Serdes.ByteArray());
        builder.table(source, raw, Materialized.as("positions"))
                .mapValues(bytes -> ShareHolders.<Position>read(POSITION, bytes))
                .filter((id, position) -> US.contains(position.exchange()))
                .groupBy(ShareHolders::byClient, Grouped.with("by-client", TEXT, TEXT))
                .aggregate(
                        TreeSet<String>::new,
                        (client, id, ids) -> with(ids, id),
                        (client, id, ids) -> without(ids, id),
                        holders)
                .toStream()
                .to(target, Produced.with(TEXT, IDS));
        return builder.build(settings);
    }

    private static KeyValue<String, String> byClient(Bytes id, Position position) {
        return KeyValue.pair(position.client(), new String(id.get(), UTF_8));
    }

    // A store hands out a fresh copy each time: the set may be changed in place.
    private static TreeSet<String> with(TreeSet<String> ids, String id) {
        ids.add(id);
        return ids;
    }

    private static TreeSet<String> without(TreeSet<String> ids, String id) {
        ids.remove(id);
        return ids.isEmpty() ? null : ids;
    }

    private static <T> T read(ObjectReader reader, byte[] bytes) {
        try {
            return bytes == null ? null : reader.readValue(bytes);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static byte[] written(TreeSet<String> ids) {
        try {
            return ids == null ? null : WRITE.writeValueAsBytes(ids);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Ends when all that the source holds has been seen, committed, and is in the target. */
    private static String run(Admin admin, Properties settings, long deadline) throws Exception {
        String source = settings.getProperty("source");
        String group = settings.getProperty("application.id");
        long[] ends = Rounds.ends(admin, source);
        Topology topology = topology(source, settings.getProperty("target"), settings);
        Rounds.Progress in = new Rounds.Progress(ends);
        Rounds.Progress out = new Rounds.Progress(new long[ends.length]);
        in.attach(topology, source);
        out.attach(topology, "by-client-repartition");

        long start = System.nanoTime();
        KafkaStreams streams = Rounds.start(topology, settings);
        Rounds.await(() -> in.records() > 0, deadline);
        long first = System.nanoTime();
        Rounds.await(() -> in.reached(ends), deadline);
        long read = System.nanoTime();
        // A commit empties the cache of the first store into the topic between the two halves ...
        Rounds.await(() -> Rounds.committed(admin, group, source, ends), deadline);
        long[] between = Rounds.ends(admin, group + "-by-client-repartition");
        Rounds.await(() -> out.reached(between), deadline);
        long grouped = System.nanoTime();
        // ... and the last commit, on closing, that of the second store into the target.
        Rounds.close(streams, deadline);
        return Rounds.line(in.records(), start, first, read, grouped, System.nanoTime());
    }

    public static void main(String[] arguments) throws Exception {
        Rounds.all(ShareHolders::run, arguments);
    }
}
