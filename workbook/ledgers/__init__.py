"""What was generated against what was observed."""
