"""Seeded streams: each event is a function of its id, its arrival on a virtual clock."""
