"""Kills any program that reads Kafka, and compares its results with those of an undisturbed run."""
