import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.nio.ByteBuffer;
import java.time.LocalDate;
import java.util.Arrays;
import org.apache.kafka.common.utils.Bytes;

/** An action on an ad, decoded from Avro by hand; one instance is filled again and again. */
final class AdAction {
    private static final byte[][] TYPES =
            Arrays.stream("view click read favourite message email".split(" "))
                    .map(type -> type.getBytes(ISO_8859_1))
                    .toArray(byte[][]::new);
    private static final long MAX_AHEAD_MS = 300_000;

    private final int oldId;
    private final int newId;
    private byte[] from;
    private int at;
    private int adAt;
    private int adLength;
    private int sourceAt;
    private int sourceLength;
    private int type;
    boolean owner;
    long time;

    AdAction(int[] ids) {
        oldId = ids[0];
        newId = ids[1];
    }

    /** Returns why the record is rejected, null if it isn't. */
    String read(byte[] value, long arrival) {
        if (value == null || value.length == 0) {
            return "empty value";
        }
        if (value.length > 4096) {
            return "value larger than 4,096 bytes";
        }
        if (value.length < 5 || value[0] != 0) {
            return "no Avro: the first byte is not 0";
        }
        int id = ByteBuffer.wrap(value, 1, 4).getInt();
        if (id != oldId && id != newId) {
            return "unknown schema id";
        }
        from = value;
        at = 5;
        try {
            fields(id == newId);
        } catch (IndexOutOfBoundsException e) {
            return "malformed Avro";
        }
        if (adLength < 0) {
            return "no ad";
        }
        if (!isPlain(adAt, adLength) || !isPlain(sourceAt, sourceLength)) {
            return "ad or source is not 1 to 64 printable ASCII characters";
        }
        if (type < 0) {
            return "unknown action type";
        }
        if (time < 0) {
            return "negative timestamp";
        }
        return time > arrival + MAX_AHEAD_MS
                ? "event time more than five minutes after arrival"
                : null;
    }

    private void fields(boolean hasBrowser) {
        number(); // the event's id
        long union = number();
        if (union != 0 && union != 1) {
            throw new IndexOutOfBoundsException();
        }
        adLength = union == 0 ? -1 : length();
        adAt = at;
        at += Math.max(adLength, 0);
        int length = length();
        type = TYPES.length - 1;
        while (type >= 0 && !isType(TYPES[type], length)) {
            type--;
        }
        at += length;
        number(); // the user
        owner = from[at++] != 0;
        sourceLength = length();
        sourceAt = at;
        at += sourceLength;
        time = number();
        if (hasBrowser) {
            length();
        }
    }

    private boolean isType(byte[] name, int length) {
        return Arrays.equals(name, 0, name.length, from, at, at + length);
    }

    /** Reads the length of a text that is there to its end. */
    private int length() {
        long length = number();
        if (length < 0 || length > from.length - at) {
            throw new IndexOutOfBoundsException();
        }
        return (int) length;
    }

    private long number() {
        long read = 0;
        for (int shift = 0; shift < 70; shift += 7) {
            byte next = from[at++];
            read |= (next & 0x7FL) << shift;
            if (next >= 0) {
                return (read >>> 1) ^ -(read & 1);
            }
        }
        throw new IndexOutOfBoundsException();
    }

    private boolean isPlain(int start, int length) {
        for (int i = start; i < start + length; i++) {
            if (from[i] < ' ' || from[i] > '~') {
                return false;
            }
        }
        return length >= 1 && length <= 64;
    }

    /** Returns what is counted by: day, type, the length of the ad's id, this id, the source. */
    Bytes key(int day) {
        ByteBuffer to = ByteBuffer.allocate(6 + adLength + sourceLength);
        to.putInt(day).put((byte) type).put((byte) adLength);
        to.put(from, adAt, adLength).put(from, sourceAt, sourceLength);
        return Bytes.wrap(to.array());
    }

    /** Writes what {@code key} returned as ad, day, type and source, with tabs between. */
    static String text(Bytes key) {
        ByteBuffer from = ByteBuffer.wrap(key.get());
        LocalDate day = LocalDate.ofEpochDay(from.getInt());
        String type = new String(TYPES[from.get()], ISO_8859_1);
        int length = from.get();
        String rest = new String(key.get(), 6, key.get().length - 6, ISO_8859_1);
        String ad = rest.substring(0, length);
        return String.join("\t", ad, day.toString(), type, rest.substring(length));
    }
}
