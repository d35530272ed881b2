"""Counts dead letters by reason, over all tasks of a query, so that no system has to."""

from collections import Counter

from pyspark import SparkContext
from pyspark.accumulators import Accumulator, AccumulatorParam


class _Adding(AccumulatorParam[Counter[str]]):
    def zero(self, value: Counter[str]) -> Counter[str]:
        return Counter()

    def addInPlace(self, value1: Counter[str], value2: Counter[str]) -> Counter[str]:  # noqa: N802
        return value1 + value2  # another thread may be reading the old one


def letters_by_reason(context: SparkContext) -> Accumulator[Counter[str]]:
    """Return the ``counts`` of a ``DeadLetters``: tasks add to them, the driver reads them.

    A record counts again if Spark runs its micro-batch again, just as its letter is sent again.
    """
    return context.accumulator(Counter(), _Adding())
