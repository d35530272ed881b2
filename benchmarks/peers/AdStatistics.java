import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneId;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import net.jpountz.xxhash.XXHash64;
import net.jpountz.xxhash.XXHashFactory;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.kstream.Repartitioned;
import org.apache.kafka.streams.processor.PunctuationType;
import org.apache.kafka.streams.processor.api.ContextualProcessor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.processor.api.RecordMetadata;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.Stores;
import org.apache.kafka.streams.state.WindowStore;

/**
 * Ad actions counted once by ad, day in Oslo, type and source: a processor with two state stores
 * per partition, then an aggregation of what the partitions have counted.
 *
 * <p>{@code Rounds} says how it is called; {@code ids} are the schema ids of both versions, {@code
 * letters} is the topic of rejected records, {@code every} the ms between two reports of a
 * partition. Avro is decoded by hand. It expects what a
 * partition holds to be in the order of its arrival, as this benchmark's topic is.
 */
public final class AdStatistics {
    private static final long SLICE_MS = 600_000;
    private static final long MAX_AGE_MS = 30L * 86_400_000;
    private static final long HOUR_MS = 3_600_000;
    private static final ZoneId OSLO = ZoneId.of("Europe/Oslo");
    private static final XXHash64 HASH = XXHashFactory.fastestJavaInstance().hash64();
    private static final Serde<Bytes> KEY = Serdes.Bytes();
    private static final Serde<byte[]> RAW = Serdes.ByteArray();

    /** What leaves a partition: its total of a key, or (with a null key) a rejected record. */
    private record Out(int partition, long total, byte[] rejected) {
        byte[] partial() {
            return ByteBuffer.allocate(12).putInt(partition).putLong(total).array();
        }
    }

    /** Rejects, deduplicates, filters and counts a partition, and reports new totals of it. */
    private static final class Count extends ContextualProcessor<byte[], byte[], Bytes, Out> {
        private final AdAction action;
        private final long[] ends;
        private final AtomicLong reported;
        private final Duration every;
        private final Map<Long, Integer> days = new HashMap<>();
        private final Set<Bytes> changed = new HashSet<>();
        private WindowStore<Bytes, byte[]> seen;
        private KeyValueStore<Bytes, Long> counts;

        Count(Properties settings, long[] ends, AtomicLong reported) {
            String[] ids = settings.getProperty("ids").split(",");
            action = new AdAction(Arrays.stream(ids).mapToInt(Integer::parseInt).toArray());
            every = Duration.ofMillis(Long.parseLong(settings.getProperty("every")));
            this.ends = ends;
            this.reported = reported;
        }

        @Override
        public void init(ProcessorContext<Bytes, Out> context) {
            super.init(context);
            seen = context.getStateStore("seen");
            counts = context.getStateStore("counts");
            try (var all = counts.all()) { // after a crash, all of them may be news
                all.forEachRemaining(each -> changed.add(each.key));
            }
            context.schedule(every, PunctuationType.WALL_CLOCK_TIME, at -> report());
        }

        @Override
        public void process(Record<byte[], byte[]> record) {
            Header sent = record.headers().lastHeader("arrival");
            long arrival = sent == null ? record.timestamp() : digits(sent.value());
            boolean reject = action.read(record.value(), arrival) != null;
            if (!reject && isFirst(record.value(), arrival) && !action.owner) {
                reject = action.time < arrival - MAX_AGE_MS; // too old
                if (!reject) {
                    count();
                }
            }
            RecordMetadata where = context().recordMetadata().orElseThrow();
            if (reject) {
                Out out = new Out(where.partition(), 0, record.value());
                context().forward(new Record<>(null, out, record.timestamp()));
            }
            if (where.offset() + 1 == ends[where.partition()]) {
                report();
            }
        }

        /** Looks into the slice of this arrival, and the one before: a slice is ten minutes. */
        private boolean isFirst(byte[] value, long arrival) {
            long hash = HASH.hash(value, 0, value.length, 0);
            Bytes key = Bytes.wrap(ByteBuffer.allocate(8).putLong(hash).array());
            long slice = arrival - arrival % SLICE_MS;
            byte[] before = seen.fetch(key, slice);
            before = before == null ? seen.fetch(key, slice - SLICE_MS) : before;
            if (before != null && arrival - ByteBuffer.wrap(before).getLong() <= SLICE_MS) {
                return false;
            }
            seen.put(key, ByteBuffer.allocate(8).putLong(arrival).array(), slice);
            return true;
        }

        private void count() {
            int day = days.computeIfAbsent(action.time / HOUR_MS, hour -> {
                Instant at = Instant.ofEpochMilli(hour * HOUR_MS);
                return (int) LocalDate.ofInstant(at, OSLO).toEpochDay();
            });
            Bytes key = action.key(day);
            Long before = counts.get(key);
            counts.put(key, before == null ? 1 : before + 1);
            changed.add(key);
        }

        private void report() {
            int partition = context().taskId().partition();
            long now = context().currentSystemTimeMs();
            for (Bytes key : changed) {
                Out out = new Out(partition, counts.get(key), null);
                context().forward(new Record<>(key, out, now));
            }
            reported.addAndGet(changed.size());
            changed.clear();
        }

        private static long digits(byte[] text) {
            long number = 0;
            for (byte digit : text) {
                number = 10 * number + digit - '0';
            }
            return number;
        }
    }

    private static Topology topology(
            Properties settings, long[] ends, AtomicLong reported) {
        Duration slice = Duration.ofMillis(SLICE_MS);
        // Slices are dropped whole, here and in the changelog: no hash is deleted by itself.
        var seen = Stores.inMemoryWindowStore("seen", slice.multipliedBy(2), slice, false);
        StreamsBuilder builder = new StreamsBuilder();
        builder.addStateStore(Stores.windowStoreBuilder(seen, KEY, RAW).withCachingDisabled());
        builder.addStateStore(Stores.keyValueStoreBuilder(
                        Stores.inMemoryKeyValueStore("counts"), KEY, Serdes.Long())
                .withCachingEnabled()); // only the last total of a commit goes to the changelog
        KStream<Bytes, Out> out = builder
                .stream(settings.getProperty("source"), Consumed.with(RAW, RAW))
                .process(() -> new Count(settings, ends, reported), "seen", "counts");
        out.filter((key, each) -> key == null)
                .mapValues(Out::rejected)
                .to(settings.getProperty("letters"), Produced.with(KEY, RAW));
        Materialized<Bytes, byte[], KeyValueStore<Bytes, byte[]>> totals =
                Materialized.as("totals");
        out.filter((key, each) -> key != null)
                .mapValues(Out::partial)
                .repartition(Repartitioned.with(KEY, RAW).withName("by-key"))
                .groupByKey()
                .aggregate(
                        () -> new byte[8 * ends.length],
                        (key, partial, all) -> Rounds.with(all, ByteBuffer.wrap(partial)),
                        totals.withKeySerde(KEY).withValueSerde(RAW))
                .toStream()
                .map((key, all) -> KeyValue.pair(AdAction.text(key), String.valueOf(Rounds.sum(all))))
                .to(settings.getProperty("target"),
                        Produced.with(Serdes.String(), Serdes.String()));
        return builder.build(settings);
    }

    /** Ends when all that the source holds has been counted, committed, and is in the target. */
    private static long run(Admin admin, Properties settings, long deadline) throws Exception {
        String source = settings.getProperty("source");
        String group = settings.getProperty("application.id");
        long[] ends = Rounds.ends(admin, source);
        AtomicLong reported = new AtomicLong();
        Topology topology = topology(settings, ends, reported);
        Rounds.Progress in = new Rounds.Progress(ends);
        Rounds.Progress out = new Rounds.Progress(new long[ends.length]);
        in.attach(topology, source);
        out.attach(topology, "by-key-repartition");

        KafkaStreams streams = Rounds.start(topology, settings);
        Rounds.await(() -> in.reached(ends), deadline);
        // Once this is committed, the last reports are between the two halves ...
        Rounds.await(() -> Rounds.committed(admin, group, source, ends), deadline);
        Rounds.await(() -> out.records() >= reported.get(), deadline);
        // ... and the commit on closing empties the cache of the totals into the target.
        Rounds.close(streams, deadline);
        return in.records();
    }

    public static void main(String[] arguments) throws Exception {
        Rounds.all(AdStatistics::run, arguments);
    }
}
