"""A streaming query: batches in parts, sinks, reports; and the replay of failed records."""
