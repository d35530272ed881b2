"""Teaches stateful stream processing: real Kafka, real Spark, one question per notebook."""
