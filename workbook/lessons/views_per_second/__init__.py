"""Exercises of chapter 02."""
