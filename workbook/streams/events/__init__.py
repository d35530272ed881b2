"""Events: fields, codec and schema of each kind of record."""
