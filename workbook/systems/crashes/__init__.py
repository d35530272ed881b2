"""Declares how each system is crashed: its points, an input, and a judge."""
