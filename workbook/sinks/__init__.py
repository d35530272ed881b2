"""Where results go: Kafka, local tables, dead letters."""
