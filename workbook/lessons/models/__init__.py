"""Forms that wrong answers of several chapters share."""
