"""The merge of two streams by key, timed out by the event time of both (after OTTO)."""

VERSION = 2
"""Of what its checkpoints hold and count; tests/test_versions.py says when to raise it."""
