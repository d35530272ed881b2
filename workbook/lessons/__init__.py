"""Exercises, one file each: the task, the reference, cases and wrong ideas that prove it."""
