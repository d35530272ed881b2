"""Servers of the lab, and all that starting them takes."""
