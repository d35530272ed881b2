"""Exercises of the mob's ninety minutes, and what their programs are rehearsed with."""
