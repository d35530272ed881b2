"""Sources for Spark: topics as rows, with what was rejected; two of them are sources of our own."""
