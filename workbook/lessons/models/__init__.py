"""Counts and forms that wrong answers of several chapters share."""
