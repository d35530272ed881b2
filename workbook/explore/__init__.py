"""Explores a topic that nobody here has made: its times and keys, and what a watermark costs."""
