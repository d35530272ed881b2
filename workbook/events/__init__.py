"""What comes in and goes out: fields, codec and schema of each kind of record."""
