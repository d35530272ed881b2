"""The merge of two streams by key, timed out by the event time of both (after OTTO)."""
