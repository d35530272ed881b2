"""Records as rows on Spark: what can be read, and what is rejected."""
