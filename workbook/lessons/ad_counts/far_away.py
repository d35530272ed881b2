"""Judges days in a session whose zone is neither UTC nor Oslo."""

from workbook.classroom.judging import NotYet

SCHEMA, COLUMNS = "ad STRING, type STRING, time BIGINT", ["ad", "day", "type", "count"]
ZONE, FAR_AWAY = "spark.sql.session.timeZone", "America/Los_Angeles"

ORDER = (
    "The columns are in another order. The rows go into a table of the database by their places: "
    "`select` them as `ad`, `day`, `type`, `count`."
)
MOVED = (
    "It changes the time zone of the whole session, and with it the days and hours of every other "
    "query in there. Name the zone in your expression instead."
)


def far_away(judge):
    """Judge in a session in Los Angeles, and refuse an answer that moves the session."""

    def diagnose(answer, spark=None):
        if spark is None:
            return judge(answer)
        before = spark.conf.get(ZONE)
        spark.conf.set(ZONE, FAR_AWAY)
        try:
            found = judge(answer, spark)
            if spark.conf.get(ZONE) != FAR_AWAY:
                return NotYet(MOVED)
            one = spark.createDataFrame([("bike", "view", 0)], SCHEMA)
            return found or (None if answer(one).columns == COLUMNS else NotYet(ORDER))
        finally:
            spark.conf.set(ZONE, before)

    return diagnose
