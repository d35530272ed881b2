"""Servers the lab starts, and what is needed to start them."""
