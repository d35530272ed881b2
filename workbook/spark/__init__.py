"""Spark: its session, checkpoints, source and queries."""
