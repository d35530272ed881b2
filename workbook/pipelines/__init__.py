"""Pipelines: functions from DataFrame to DataFrame that mark what they reject."""
