"""A Kafka client: connection, offsets, readers and producers. No Spark in here."""
