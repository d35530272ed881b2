"""State in buckets: many keys in one value of Spark's state store. Knows nothing of tables."""
