"""Pipelines: functions from DataFrame to DataFrame; the sources have marked what is rejected."""
