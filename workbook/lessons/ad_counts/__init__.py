"""Exercises of chapter 41."""
