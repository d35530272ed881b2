"""Every exception of the package. A message says what was expected, what it got, what to do."""


class WorkbookError(Exception):
    """Base of all errors that a reader of the workbook may meet."""


class Rejected(WorkbookError):
    """A record can't be read as an event; its ``reason`` goes to the dead-letter topic."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class CheckBroke(WorkbookError):
    """The check of an exercise raised an error itself: the answer isn't to blame."""


class NoSuchStream(WorkbookError, ValueError):
    """Options that describe no stream, or one that doesn't fit its topic or the clock."""


class NoSuchState(WorkbookError):
    """The state of a query has no such table, or not yet."""


class NoTopology(WorkbookError, ValueError):
    """Something other than a streaming query was asked for its topology."""


class QueryEnded(WorkbookError):
    """The query has been stopped."""


class QueryFailed(WorkbookError):
    """A streaming query has ended by an error of its own."""


class CannotGoOn(WorkbookError):
    """A checkpoint doesn't fit the query or the store that should continue from it."""


class SketchUnreadable(WorkbookError, ValueError):
    """Bytes that should be a sketch can't be read as one."""


class NewSchema(WorkbookError):
    """A record has a schema that was registered after its query started."""


class NoSuchSchema(WorkbookError):
    """The registry has no schema under a subject."""


class PartitionedApart(WorkbookError):
    """Two topics are partitioned differently, so that the same key is in different partitions."""


class JarsMissing(WorkbookError):
    """Jars aren't in the cache and couldn't be fetched."""


class JarsDamaged(WorkbookError):
    """A jar in the cache doesn't have its recorded SHA-256 sum."""


class JavaUnusable(WorkbookError):
    """Java is missing or too old, or JAVA_HOME points nowhere."""


class ServerFailed(WorkbookError):
    """A server of the lab didn't start, or ended by itself."""


class NotRunning(ServerFailed):
    """The lab has no supervisor, and none came up."""


class SparkFailed(WorkbookError):
    """Spark didn't start, or its master doesn't answer."""


class NotConfigured(WorkbookError):
    """A setting for a server of one's own is missing, unknown, or names what can't be used."""


class BrokerUnreachable(WorkbookError):
    """No Kafka broker answered in time."""


class RegistryUnreachable(WorkbookError):
    """No schema registry answered in time."""


class DatabaseUnreachable(WorkbookError):
    """No database answered in time, or it refused the login."""


class CassandraUnreachable(WorkbookError):
    """No node of Cassandra answered in time, or it refused the login."""


class RecordRefused(WorkbookError):
    """The broker answers, but refuses a record at every attempt."""


class SchemaRefused(WorkbookError):
    """The schema registry refuses a schema: what was written before couldn't be read with it."""


class SeveralPartitions(WorkbookError):
    """Metrics keyed by second alone were asked of clicks on several partitions."""


class TopicMissing(WorkbookError):
    """The broker answers, but the topic doesn't exist."""


class RecordsLost(WorkbookError):
    """Records that were to be read aren't in the topic any more."""


class RightMissing(WorkbookError, PermissionError):
    """The broker or the database answers, but this user lacks a right."""


class NotOurServer(WorkbookError):
    """A destructive action was asked of a server that the lab didn't start."""


class NoSuchCrash(WorkbookError, ValueError):
    """A version of the pipeline that the crash lab does not have, or a point it does not pass."""


class CrashFailed(WorkbookError):
    """A run of the crash lab ended early or hung, so there is no verdict."""


def plain(text: str) -> str:
    """Replace the characters that would steer a terminal or begin a line.

    Others choose the names of groups, clients and pages, and any character is allowed in them.
    """
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)
