"""How many page views were there?"""

VERSION = 2
"""Of what its checkpoints hold and count; tests/test_versions.py says when to raise it."""
