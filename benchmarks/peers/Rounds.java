import static org.apache.kafka.streams.CloseOptions.GroupMembershipOperation.LEAVE_GROUP;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.streams.CloseOptions;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.TopologyDescription;
import org.apache.kafka.streams.processor.api.ContextualProcessor;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.processor.api.RecordMetadata;

/**
 * Runs a program of Kafka Streams over what its topics hold now, in rounds (benchmarks/harness.py).
 *
 * <p>Every argument is {@code name=value}: {@code source}, {@code deadline} (in seconds) and what
 * the program asks for; all others are settings of Kafka Streams. It prints {@code ready} and reads
 * a line with more of them, with tabs between: {@code application.id}, {@code target}. Each line is
 * an application of its own, in a Java that gets warmer, and is answered by the number of records
 * once all results are in the target, committed, and the application is closed.
 */
final class Rounds {
    private Rounds() {}

    /** A program: brings the topics into the target, and returns how many records it took. */
    interface Program {
        long run(Admin admin, Properties settings, long deadline) throws Exception;
    }

    /** Puts the count of one partition (its number, its count) into those of all partitions. */
    static byte[] with(byte[] all, ByteBuffer partial) {
        byte[] after = all.clone();
        ByteBuffer.wrap(after).putLong(8 * partial.getInt(), partial.getLong());
        return after;
    }

    /** Adds up the counts of all partitions. */
    static long sum(byte[] all) {
        ByteBuffer from = ByteBuffer.wrap(all);
        return IntStream.range(0, all.length / 8).mapToLong(i -> from.getLong(8 * i)).sum();
    }

    /** Notes how far each partition of a topic has been processed; asks for a commit at its end. */
    static final class Progress {
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

    static long[] ends(Admin admin, String topic) throws Exception {
        var described = admin.describeTopics(List.of(topic)).allTopicNames().get().get(topic);
        int partitions = described.partitions().size();
        var latest = IntStream.range(0, partitions).boxed().collect(
                Collectors.toMap(p -> new TopicPartition(topic, p), p -> OffsetSpec.latest()));
        var found = admin.listOffsets(latest).all().get();
        return IntStream.range(0, partitions)
                .mapToLong(p -> found.get(new TopicPartition(topic, p)).offset())
                .toArray();
    }

    static boolean committed(Admin admin, String group, String topic, long[] ends)
            throws Exception {
        Map<TopicPartition, OffsetAndMetadata> offsets =
                admin.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata().get();
        return IntStream.range(0, ends.length).filter(p -> ends[p] > 0).allMatch(p -> {
            OffsetAndMetadata at = offsets.get(new TopicPartition(topic, p));
            return at != null && at.offset() >= ends[p];
        });
    }

    static void fail(Throwable error) {
        error.printStackTrace();
        Runtime.getRuntime().halt(1);
    }

    interface Condition {
        boolean holds() throws Exception;
    }

    static void await(Condition condition, long deadline) throws Exception {
        while (!condition.holds()) {
            if (System.nanoTime() > deadline) {
                throw new IllegalStateException("the result was not complete within the deadline");
            }
            Thread.sleep(10);
        }
    }

    /** Starts the application; a fault of it ends the program. */
    static KafkaStreams start(Topology topology, Properties settings) {
        KafkaStreams streams = new KafkaStreams(topology, settings);
        streams.setUncaughtExceptionHandler(error -> {
            fail(error);
            return null;
        });
        streams.start();
        return streams;
    }

    static void close(KafkaStreams streams, long deadline) {
        Duration left = Duration.ofNanos(deadline - System.nanoTime());
        if (!streams.close(CloseOptions.timeout(left).withGroupMembershipOperation(LEAVE_GROUP))) {
            throw new IllegalStateException("Kafka Streams did not close within the deadline");
        }
    }

    private static void take(Properties settings, String... arguments) {
        for (String argument : arguments) {
            settings.setProperty(argument.split("=", 2)[0], argument.split("=", 2)[1]);
        }
    }

    static void all(Program program, String[] arguments) throws Exception {
        Thread.setDefaultUncaughtExceptionHandler((thread, error) -> fail(error));
        Properties settings = new Properties();
        take(settings, arguments);
        long within = Long.parseLong((String) settings.remove("deadline")) * 1_000_000_000L;
        Map<String, Object> broker = Map.of("bootstrap.servers", settings.get("bootstrap.servers"));
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("ready");
        try (Admin admin = Admin.create(broker)) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                take(settings, line.split("\t"));
                long records = program.run(admin, settings, System.nanoTime() + within);
                System.out.println("{\"records\": " + records + "}");
                System.out.println("ready");
            }
        }
        System.exit(0);
    }
}
