"""Streaming queries: batches in parts, sinks, reports; and the replay of failed records."""
