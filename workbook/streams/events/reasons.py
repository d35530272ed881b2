"""Why a record is rejected."""

from enum import StrEnum


class Reason(StrEnum):
    """Why a record is rejected, in the order of the checks."""

    NO_KEY = "no key, or one that is not UTF-8"
    TOO_LARGE = "value larger than 4,096 bytes"
    EMPTY = "empty value"
    MALFORMED = "malformed JSON"  # not one JSON object in UTF-8
    MISSING = "missing field"  # a required one is absent or null, or one has the wrong type
    UNKNOWN_TYPE = "unknown click type"
    NEGATIVE = "negative timestamp"
    FUTURE = "event time more than five minutes after arrival"
    AHEAD = "event time more than five minutes after the reader's own time"
    NOT_AN_AMOUNT = "amount is not a whole number from 1 to 1,000,000,000,000"
    UNKNOWN_EXCHANGE = "unknown exchange"
    UNKNOWN_MESSAGE = "unknown message type"
    OTHER_KEY = "key is not the message's ssid"
    NOT_CENTS = "cents are not a whole number from 0 to 1,000,000,000"
    NO_VISIT = "order without a visit"  # timed out before any tracking message of its ssid came
    NO_AVRO = "no Avro: the first byte is not 0"  # or shorter than its head of five bytes
    ID_IN_HEADER = "schema id in a header, not before the value"
    UNKNOWN_SCHEMA = "unknown schema id"
    OTHER_SCHEMA = "schema of the id is not one of ad actions"
    MALFORMED_AVRO = "malformed Avro"
    NO_AD = "no ad"
    NOT_PLAIN = "ad or source is not 1 to 64 printable ASCII characters"
    UNKNOWN_ACTION = "unknown action type"
    NO_DAY = "day is not a day such as 20260131"  # of the old table, as all such rows
    NOT_A_COUNT = "count is not a number from 0 to 1,000,000,000,000"
    TOO_OLD = "event time more than 30 days before arrival"  # a good ad action, but not counted
    TOO_LATE = "too late"  # a good page view, but its second was complete already
