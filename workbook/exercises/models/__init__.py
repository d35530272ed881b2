"""What wrong answers of several chapters are made of: the same slip is written once."""
