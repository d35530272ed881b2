"""Exercises: a task, a check that diagnoses, hints, a reference, a discussion.

``engine`` judges answers and knows no chapter. ``chapters`` has a folder for each notebook, which
bears its name without the number.
"""
