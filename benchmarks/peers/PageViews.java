import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.MapperFeature;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.clients.admin.Admin;
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
import org.apache.kafka.streams.processor.api.ContextualProcessor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.processor.api.RecordMetadata;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.Stores;

/**
 * Page views per second, with a clock for each partition: a processor with a state store counts
 * what a partition holds, and an aggregation adds up what the partitions have counted.
 *
 * <p>{@code Rounds} says how it is called; {@code letters} is the topic of clicks that are rejected
 * or late, {@code lateness} is in ms. A second goes to the target once for each partition, when its
 * clock has passed it: the last value of a second counts.
 */
public final class PageViews {
    private static final ObjectReader CLICK = JsonMapper.builder()
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .disable(MapperFeature.ALLOW_COERCION_OF_SCALARS)
            .build()
            .readerFor(Click.class);
    private static final long MAX_AHEAD_MS = 300_000;
    private static final long CLOCK = -1;
    private static final Serde<Long> LONG = Serdes.Long();
    private static final Serde<byte[]> RAW = Serdes.ByteArray();

    private record Click(
            @JsonProperty("event_id") Long id,
            @JsonProperty("click_type") String type,
            String name,
            Long timestamp,
            String browser,
            @JsonProperty("tab_id") String tab) {
        /** Returns null for what is no click. */
        static Click read(byte[] value, long arrival) {
            try {
                Click click = value == null ? null : CLICK.readValue(value);
                return click != null && click.isGood(arrival) ? click : null;
            } catch (IOException e) {
                return null;
            }
        }

        private boolean isGood(long arrival) {
            return id != null && name != null && browser != null && timestamp != null
                    && ("Page".equals(type) || "Action".equals(type))
                    && timestamp >= 0 && timestamp <= arrival + MAX_AHEAD_MS;
        }
    }

    /** What leaves a partition: its views of a second, or (with a null key) a rejected record. */
    private record Out(int partition, long views, byte[] rejected) {
        byte[] partial() {
            return ByteBuffer.allocate(12).putInt(partition).putLong(views).array();
        }
    }

    private static final class Count extends ContextualProcessor<byte[], byte[], Long, Out> {
        private final long lateness;
        private final AtomicLong reported;
        private KeyValueStore<Long, Long> open;
        private long newest;

        Count(Properties settings, AtomicLong reported) {
            lateness = Long.parseLong(settings.getProperty("lateness"));
            this.reported = reported;
        }

        @Override
        public void init(ProcessorContext<Long, Out> context) {
            super.init(context);
            open = context.getStateStore("open");
            Long clock = open.get(CLOCK);
            newest = clock == null ? 0 : clock;
        }

        @Override
        public void process(Record<byte[], byte[]> record) {
            RecordMetadata where = context().recordMetadata().orElseThrow();
            Click click = Click.read(record.value(), record.timestamp());
            boolean reject = click == null;
            if (!reject && click.type.equals("Page")) {
                long second = click.timestamp / 1000;
                reject = second < closed();
                if (!reject) {
                    Long before = open.get(second);
                    open.put(second, before == null ? 1 : before + 1);
                }
            }
            if (reject) {
                Out out = new Out(where.partition(), 0, record.value());
                context().forward(new Record<>(null, out, record.timestamp()));
            } else if (click.timestamp > newest) {
                advance(click.timestamp, where.partition());
            }
        }

        private long closed() {
            return (newest - lateness) / 1000;
        }

        private void advance(long time, int partition) {
            long before = closed();
            newest = time;
            if (closed() == before) {
                return;
            }
            List<KeyValue<Long, Long>> complete = new ArrayList<>();
            try (var found = open.range(0L, closed() - 1)) {
                found.forEachRemaining(complete::add);
            }
            for (KeyValue<Long, Long> each : complete) {
                Out out = new Out(partition, each.value, null);
                context().forward(new Record<>(each.key, out, each.key * 1000));
                open.delete(each.key);
            }
            reported.addAndGet(complete.size());
            open.put(CLOCK, newest);
        }
    }

    private static Topology topology(Properties settings, int partitions, AtomicLong reported) {
        StreamsBuilder builder = new StreamsBuilder();
        builder.addStateStore(Stores.keyValueStoreBuilder(
                        Stores.inMemoryKeyValueStore("open"), LONG, LONG)
                .withCachingEnabled()); // only the last count of a commit goes to the changelog
        KStream<Long, Out> out = builder
                .stream(settings.getProperty("source"), Consumed.with(RAW, RAW))
                .process(() -> new Count(settings, reported), "open");
        out.filter((second, each) -> second == null)
                .mapValues(Out::rejected)
                .to(settings.getProperty("letters"), Produced.with(LONG, RAW));
        Materialized<Long, byte[], KeyValueStore<Bytes, byte[]>> views = Materialized.as("views");
        out.filter((second, each) -> second != null)
                .mapValues(Out::partial)
                .repartition(Repartitioned.with(LONG, RAW).withName("by-second"))
                .groupByKey()
                .aggregate(
                        () -> new byte[8 * partitions],
                        (second, partial, all) -> Rounds.with(all, ByteBuffer.wrap(partial)),
                        views.withKeySerde(LONG).withValueSerde(RAW))
                .toStream()
                .map((second, all) -> KeyValue.pair(second.toString(), String.valueOf(Rounds.sum(all))))
                .to(settings.getProperty("target"), Produced.with(Serdes.String(), Serdes.String()));
        return builder.build(settings);
    }

    /** Ends when all that the source holds has been counted, committed, and is in the target. */
    private static long run(Admin admin, Properties settings, long deadline) throws Exception {
        String source = settings.getProperty("source");
        String group = settings.getProperty("application.id");
        long[] ends = Rounds.ends(admin, source);
        AtomicLong reported = new AtomicLong();
        Topology topology = topology(settings, ends.length, reported);
        Rounds.Progress in = new Rounds.Progress(ends);
        Rounds.Progress out = new Rounds.Progress(new long[ends.length]);
        in.attach(topology, source);
        out.attach(topology, "by-second-repartition");

        KafkaStreams streams = Rounds.start(topology, settings);
        Rounds.await(() -> in.reached(ends), deadline);
        Rounds.await(() -> Rounds.committed(admin, group, source, ends), deadline);
        Rounds.await(() -> out.records() >= reported.get(), deadline);
        Rounds.close(streams, deadline);
        return in.records();
    }

    public static void main(String[] arguments) throws Exception {
        Rounds.all(PageViews::run, arguments);
    }
}
