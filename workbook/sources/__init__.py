"""Where events come from: producers and readers."""
