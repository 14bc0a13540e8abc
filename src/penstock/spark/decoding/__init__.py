"""Decode Kafka records to columns: frames, schema versions, and the function in Java."""
