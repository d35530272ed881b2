"""Ledgers: judge what was observed by what was generated."""
