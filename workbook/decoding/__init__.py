"""Decodes records into rows on Spark, and marks those that are rejected with the reason."""
