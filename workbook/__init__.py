"""Stateful stream processing, taken apart: real Kafka, real Spark, one question per notebook."""
