"""Every exception of the package. Each message says what was expected, what came, what to do."""

from __future__ import annotations


class WorkbookError(Exception):
    """Base of all errors that a reader of the workbook may meet."""


class Rejected(WorkbookError):
    """A record that cannot be read as an event; its ``reason`` goes to the dead-letter topic."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class CheckBroke(WorkbookError):
    """A check of an exercise that raised, which an answer must not be blamed for."""


class NoSuchStream(WorkbookError, ValueError):
    """Numbers that describe no stream, or one that does not fit its topic or the clock."""


class CannotSubtract(WorkbookError, ValueError):
    """An aggregate that cannot take a row out again, asked of a table whose rows come and go."""


class SumTooLarge(WorkbookError, OverflowError):
    """A sum that does not fit into its type any more."""


class CannotFingerprint(WorkbookError, ValueError):
    """A function that uses too much to say whether it is the same at a restart."""


class NoSuchState(WorkbookError):
    """A table that is not, or not yet, in the state of a query."""


class QueryEnded(WorkbookError):
    """Something was asked of a query that has been stopped."""


class CannotGoOn(WorkbookError):
    """A checkpoint that does not fit the query, or the store, that is to go on with it."""


class JarsMissing(WorkbookError):
    """Jars are not in the cache and could not be fetched."""


class JarsDamaged(WorkbookError):
    """A jar in the cache does not have its recorded SHA-256 sum."""


class JavaUnusable(WorkbookError):
    """No Java that can run Spark and Kafka: missing, too old, or JAVA_HOME points nowhere."""


class ServerFailed(WorkbookError):
    """A server of the lab did not start, or ended on its own."""


class NotRunning(ServerFailed):
    """This lab has no supervisor, and none was to be started or came up."""


class SparkFailed(WorkbookError):
    """Spark did not start, or its master does not answer."""


class BrokerUnreachable(WorkbookError):
    """No Kafka broker answered in time."""


class RecordRefused(WorkbookError):
    """The broker answers, but does not take what it is sent, however often that is tried."""


class SeveralPartitions(WorkbookError):
    """Metrics by second alone, asked of clicks on several partitions."""


class TopicMissing(WorkbookError):
    """The broker answers, but the topic does not exist."""


class NotOurServer(WorkbookError):
    """Something that deletes or breaks things was asked of a server the lab did not start."""


class NoSuchCrash(WorkbookError, ValueError):
    """A version of the pipeline that the crash lab does not have, or a point it does not pass."""


class CrashFailed(WorkbookError):
    """A run of the crash lab did not go as planned: no verdict."""
