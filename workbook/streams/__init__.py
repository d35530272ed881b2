"""An event's whole life: its schema, who generates it, writes it, reads it, and judges it."""
