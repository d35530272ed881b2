"""Tables kept up to date from changes, and aggregates over their groups."""
