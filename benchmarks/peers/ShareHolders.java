import static java.nio.charset.StandardCharsets.UTF_8;
import static org.apache.kafka.streams.CloseOptions.GroupMembershipOperation.LEAVE_GROUP;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.ObjectWriter;
import com.fasterxml.jackson.databind.type.TypeFactory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.CloseOptions;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.TopologyDescription;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.processor.api.ContextualProcessor;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.processor.api.RecordMetadata;
import org.apache.kafka.streams.state.KeyValueStore;

/**
 * Who holds a US share: the table of D. Lebrero in Kafka Streams, over what a topic holds now.
 *
 * <p>Every argument is {@code name=value}: {@code source}, {@code target}, {@code deadline} (in
 * seconds) and {@code rounds}, all others are settings of Kafka Streams. Each round is an
 * application of its own, in a Java that gets warmer, and prints a JSON array:
 * records, and seconds as kafka_streams.py names them. A value that is not a position ends the
 * program: the input of a benchmark is clean.
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

    /** Notes how far each partition of a topic has been processed; asks for a commit at its end. */
    private static final class Progress {
        private final AtomicLongArray next;
        private final AtomicLongArray seen;
        private final long[] ends;

        Progress(long[] ends) {
            this.ends = ends;
            next = new AtomicLongArray(ends.length);
            seen = new AtomicLongArray(ends.length);
        }

        void attach(Topology topology, String topic) {
            String source = sourceOf(topology, topic);
            topology.addProcessor("watch-" + source, () -> new Watch(), source);
        }

        boolean reached(long[] offsets) {
            return IntStream.range(0, offsets.length).allMatch(i -> next.get(i) >= offsets[i]);
        }

        long records() {
            return IntStream.range(0, ends.length).mapToLong(seen::get).sum();
        }

        private final class Watch extends ContextualProcessor<Object, Object, Void, Void> {
            @Override
            public void process(Record<Object, Object> record) {
                RecordMetadata where = context().recordMetadata().orElseThrow();
                seen.lazySet(where.partition(), seen.get(where.partition()) + 1);
                next.lazySet(where.partition(), where.offset() + 1);
                if (where.offset() + 1 == ends[where.partition()]) {
                    context().commit();
                }
            }
        }

        private static String sourceOf(Topology topology, String topic) {
            return topology.describe().subtopologies().stream()
                    .flatMap(part -> part.nodes().stream())
                    .filter(node -> node instanceof TopologyDescription.Source s
                            && s.topicSet() != null
                            && s.topicSet().contains(topic))
                    .findFirst()
                    .orElseThrow()
                    .name();
        }
    }

    private static long[] ends(Admin admin, String topic) throws Exception {
        var described = admin.describeTopics(List.of(topic)).allTopicNames().get().get(topic);
        int partitions = described.partitions().size();
        var latest = IntStream.range(0, partitions).boxed().collect(
                Collectors.toMap(p -> new TopicPartition(topic, p), p -> OffsetSpec.latest()));
        var found = admin.listOffsets(latest).all().get();
        return IntStream.range(0, partitions)
                .mapToLong(p -> found.get(new TopicPartition(topic, p)).offset())
                .toArray();
    }

    private static boolean committed(Admin admin, String group, String topic, long[] ends)
            throws Exception {
        Map<TopicPartition, OffsetAndMetadata> offsets =
                admin.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata().get();
        return IntStream.range(0, ends.length).filter(p -> ends[p] > 0).allMatch(p -> {
            OffsetAndMetadata at = offsets.get(new TopicPartition(topic, p));
            return at != null && at.offset() >= ends[p];
        });
    }

    private static void fail(Throwable error) {
        error.printStackTrace();
        Runtime.getRuntime().halt(1);
    }

    private interface Condition {
        boolean holds() throws Exception;
    }

    private static void await(Condition condition, long deadline) throws Exception {
        while (!condition.holds()) {
            if (System.nanoTime() > deadline) {
                throw new IllegalStateException("the table was not complete within the deadline");
            }
            Thread.sleep(10);
        }
    }

    /** Ends when all that the source holds has been seen, committed, and is in the target. */
    private static String run(
            Admin admin, String source, String target, long within, Properties settings)
            throws Exception {
        String group = settings.getProperty("application.id");
        long[] ends = ends(admin, source);
        Topology topology = topology(source, target, settings);
        Progress in = new Progress(ends);
        Progress out = new Progress(new long[ends.length]);
        in.attach(topology, source);
        out.attach(topology, "by-client-repartition");

        long start = System.nanoTime();
        long deadline = start + within * 1_000_000_000L;
        KafkaStreams streams = new KafkaStreams(topology, settings);
        streams.setUncaughtExceptionHandler(error -> {
            fail(error);
            return null;
        });
        streams.start();
        await(() -> in.records() > 0, deadline);
        long first = System.nanoTime();
        await(() -> in.reached(ends), deadline);
        long read = System.nanoTime();
        // A commit empties the cache of the first store into the topic between the two halves ...
        await(() -> committed(admin, group, source, ends), deadline);
        long[] between = ends(admin, group + "-by-client-repartition");
        await(() -> out.reached(between), deadline);
        long grouped = System.nanoTime();
        // ... and the last commit, on closing, that of the second store into the target.
        Duration left = Duration.ofNanos(deadline - System.nanoTime());
        if (!streams.close(CloseOptions.timeout(left).withGroupMembershipOperation(LEAVE_GROUP))) {
            throw new IllegalStateException("Kafka Streams did not close within the deadline");
        }
        long end = System.nanoTime();
        return Stream.of(first, read, grouped, end)
                .map(at -> String.format(Locale.ROOT, "%.3f", (at - start) / 1e9))
                .collect(Collectors.joining(", ", "[" + in.records() + ", ", "]"));
    }

    public static void main(String[] arguments) throws Exception {
        Thread.setDefaultUncaughtExceptionHandler((thread, error) -> fail(error));
        Properties settings = new Properties();
        for (String argument : arguments) {
            settings.setProperty(argument.split("=", 2)[0], argument.split("=", 2)[1]);
        }
        String source = (String) settings.remove("source");
        String target = (String) settings.remove("target");
        long within = Long.parseLong((String) settings.remove("deadline"));
        int rounds = Integer.parseInt((String) settings.remove("rounds"));
        String application = settings.getProperty("application.id");
        Map<String, Object> broker = Map.of("bootstrap.servers", settings.get("bootstrap.servers"));
        try (Admin admin = Admin.create(broker)) {
            for (int round = 1; round <= rounds; round++) {
                settings.setProperty("application.id", application + "-" + round);
                System.out.println(run(admin, source, target, within, settings));
            }
        }
        System.exit(0);
    }
}
