"""Judges an answer: calls it, names the likely cause of a wrong one, and shows a card."""
