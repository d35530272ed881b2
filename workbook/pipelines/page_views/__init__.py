"""How many page views were there?"""

VERSION = 1
"""Of what its checkpoints hold and count; tests/test_versions.py says when to raise it."""
