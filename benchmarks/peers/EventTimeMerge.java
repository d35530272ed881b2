import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.ObjectReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.processor.PunctuationType;
import org.apache.kafka.streams.processor.api.ContextualProcessor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.StoreBuilder;
import org.apache.kafka.streams.state.Stores;

/**
 * Tracking and order messages merged by visit, timed out by both topics' clock: a processor with
 * two state stores, and a punctuation that emits what the clock has passed.
 *
 * <p>{@code Rounds} says how it is called; {@code orders} is the second topic, {@code timeout} and
 * {@code horizon} are in ms of event time, and {@code memory} keeps the stores in memory. A value that is
 * not a message ends the program: the input of a benchmark is clean. It knows no maximum age.
 */
public final class EventTimeMerge {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final ObjectReader MESSAGE = JSON.readerFor(Message.class);
    private static final Duration EVERY = Duration.ofMillis(50);

    private record Message(
            String type,
            long timestamp,
            @JsonProperty("event_id") long id,
            String ssid,
            String page,
            @JsonProperty("order_id") String order,
            long cents) {}

    /** What goes to the target: to the partition that its messages came from. */
    private record Out(int partition, byte[] value) {}

    /** When a visit is complete, or forgotten; its place in the order of these times. */
    private record Due(long time, String ssid) implements Comparable<Due> {
        private static final Comparator<Due> ORDER =
                Comparator.comparingLong(Due::time).thenComparing(Due::ssid);

        @Override
        public int compareTo(Due other) {
            return ORDER.compare(this, other);
        }
    }

    /** An open visit as it rests in the store: newest time, fragment, then messages as they came. */
    private record Visit(long newest, int fragment, byte[] messages) {
        static Visit of(byte[] stored) {
            ByteBuffer from = ByteBuffer.wrap(stored);
            long newest = from.getLong();
            int fragment = from.getInt();
            byte[] messages = new byte[from.remaining()];
            from.get(messages);
            return new Visit(newest, fragment, messages);
        }

        byte[] with(long timestamp, byte[] message) {
            ByteBuffer to = ByteBuffer.allocate(12 + messages.length + 4 + message.length);
            to.putLong(Math.max(newest, timestamp)).putInt(fragment).put(messages);
            return to.putInt(message.length).put(message).array();
        }

        List<Message> read() throws IOException {
            Set<Message> found = new LinkedHashSet<>();
            for (ByteBuffer from = ByteBuffer.wrap(messages); from.hasRemaining(); ) {
                int length = from.getInt();
                found.add(MESSAGE.readValue(messages, from.position(), length));
                from.position(from.position() + length);
            }
            List<Message> sorted = new ArrayList<>(found);
            sorted.sort(Comparator.comparingLong(Message::timestamp)
                    .thenComparingLong(Message::id));
            return sorted;
        }
    }

    private static final class Merge extends ContextualProcessor<String, byte[], String, Out> {
        private final String tracking;
        private final long timeout;
        private final long horizon;
        private final AtomicLong openVisits;
        private final TreeSet<Due> complete = new TreeSet<>();
        private final TreeSet<Due> forgotten = new TreeSet<>();
        private final long[] newest = {Long.MIN_VALUE, Long.MIN_VALUE};
        private KeyValueStore<String, byte[]> open;
        private KeyValueStore<String, byte[]> emitted;

        Merge(Properties settings, AtomicLong openVisits) {
            tracking = settings.getProperty("source");
            timeout = Long.parseLong(settings.getProperty("timeout"));
            horizon = Long.parseLong(settings.getProperty("horizon"));
            this.openVisits = openVisits;
        }

        @Override
        public void init(ProcessorContext<String, Out> context) {
            super.init(context);
            open = context.getStateStore("open");
            emitted = context.getStateStore("emitted");
            try (var all = open.all()) {
                all.forEachRemaining(each ->
                        complete.add(new Due(Visit.of(each.value).newest + timeout, each.key)));
            }
            try (var all = emitted.all()) {
                all.forEachRemaining(each ->
                        forgotten.add(new Due(ByteBuffer.wrap(each.value).getLong(), each.key)));
            }
            context.schedule(EVERY, PunctuationType.WALL_CLOCK_TIME, at -> emit());
        }

        @Override
        public void process(Record<String, byte[]> record) {
            Message message = read(record.value());
            int side = context().recordMetadata().orElseThrow().topic().equals(tracking) ? 0 : 1;
            newest[side] = Math.max(newest[side], message.timestamp);
            if (message.type.equals("heartbeat")) {
                return;
            }
            byte[] stored = open.get(message.ssid);
            Visit visit = stored == null ? begun(message.ssid) : Visit.of(stored);
            byte[] merged = visit.with(message.timestamp, record.value());
            open.put(message.ssid, merged);
            if (message.timestamp > visit.newest) {
                complete.remove(new Due(visit.newest + timeout, message.ssid));
                complete.add(new Due(message.timestamp + timeout, message.ssid));
            }
        }

        private Visit begun(String ssid) {
            openVisits.incrementAndGet();
            byte[] before = emitted.get(ssid);
            int fragment = before == null ? 0 : ByteBuffer.wrap(before).getInt(8);
            return new Visit(Long.MIN_VALUE, fragment, new byte[0]);
        }

        private void emit() {
            long now = Math.min(newest[0], newest[1]);
            if (now == Long.MIN_VALUE) {
                return;
            }
            while (!forgotten.isEmpty() && forgotten.first().time < now) {
                emitted.delete(forgotten.pollFirst().ssid);
            }
            while (!complete.isEmpty() && complete.first().time < now) {
                Due due = complete.pollFirst();
                Visit visit = Visit.of(open.delete(due.ssid));
                long until = now + horizon;
                forgotten.add(new Due(until, due.ssid));
                emitted.put(due.ssid, ByteBuffer.allocate(12)
                        .putLong(until).putInt(visit.fragment + 1).array());
                Out out = new Out(context().taskId().partition(), written(due.ssid, visit));
                context().forward(new Record<>(due.ssid, out, Math.max(visit.newest, 0)));
                openVisits.decrementAndGet();
            }
        }
    }

    private static Message read(byte[] value) {
        try {
            return MESSAGE.readValue(value);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static byte[] written(String ssid, Visit visit) {
        ByteArrayOutputStream to = new ByteArrayOutputStream();
        try (JsonGenerator json = JSON.createGenerator(to)) {
            List<Message> messages = visit.read();
            json.writeStartObject();
            json.writeStringField("ssid", ssid);
            json.writeNumberField("timestamp", visit.newest);
            json.writeNumberField("fragment", visit.fragment);
            json.writeArrayFieldStart("tracking");
            for (Message each : messages) {
                if (each.type.equals("tracking")) {
                    begin(json, each);
                    json.writeStringField("page", each.page);
                    json.writeEndObject();
                }
            }
            json.writeEndArray();
            json.writeArrayFieldStart("orders");
            for (Message each : messages) {
                if (each.type.equals("order")) {
                    begin(json, each);
                    json.writeStringField("order_id", each.order);
                    json.writeNumberField("cents", each.cents);
                    json.writeEndObject();
                }
            }
            json.writeEndArray();
            json.writeEndObject();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return to.toByteArray();
    }

    private static void begin(JsonGenerator json, Message message) throws IOException {
        json.writeStartObject();
        json.writeNumberField("event_id", message.id);
        json.writeNumberField("timestamp", message.timestamp);
    }

    private static StoreBuilder<KeyValueStore<String, byte[]>> store(String name, boolean memory) {
        var supplier = memory
                ? Stores.inMemoryKeyValueStore(name)
                : Stores.persistentKeyValueStore(name);
        return Stores.keyValueStoreBuilder(supplier, Serdes.String(), Serdes.ByteArray())
                .withCachingEnabled();
    }

    private static Topology topology(Properties settings, AtomicLong openVisits) {
        boolean memory = Boolean.parseBoolean(settings.getProperty("memory"));
        var keys = new StringDeserializer();
        var values = new ByteArrayDeserializer();
        return new Topology()
                .addSource("tracking", keys, values, settings.getProperty("source"))
                .addSource("orders", keys, values, settings.getProperty("orders"))
                .addProcessor("merge", () -> new Merge(settings, openVisits), "tracking", "orders")
                .addStateStore(store("open", memory), "merge")
                .addStateStore(store("emitted", memory), "merge")
                .addSink(
                        "visits",
                        settings.getProperty("target"),
                        new StringSerializer(),
                        (String topic, Out out) -> out.value,
                        (topic, key, out, partitions) -> Optional.of(Set.of(out.partition)),
                        "merge");
    }

    /** Ends when all messages have been taken, every visit is complete and in the target. */
    private static long run(Admin admin, Properties settings, long deadline) throws Exception {
        AtomicLong openVisits = new AtomicLong();
        Topology topology = topology(settings, openVisits);
        long[] tracking = Rounds.ends(admin, settings.getProperty("source"));
        long[] orders = Rounds.ends(admin, settings.getProperty("orders"));
        Rounds.Progress left = new Rounds.Progress(tracking);
        Rounds.Progress right = new Rounds.Progress(orders);
        left.attach(topology, settings.getProperty("source"));
        right.attach(topology, settings.getProperty("orders"));

        KafkaStreams streams = Rounds.start(topology, settings);
        Rounds.await(() -> left.reached(tracking) && right.reached(orders), deadline);
        Rounds.await(() -> openVisits.get() == 0, deadline);
        Rounds.close(streams, deadline);
        return left.records() + right.records();
    }

    public static void main(String[] arguments) throws Exception {
        Rounds.all(EventTimeMerge::run, arguments);
    }
}
