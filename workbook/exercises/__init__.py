"""Exercises: a task, a check that diagnoses, hints, a reference, a discussion."""
