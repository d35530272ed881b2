"""Two tables joined by a column of their keys: the step alone, and on the real Spark."""
