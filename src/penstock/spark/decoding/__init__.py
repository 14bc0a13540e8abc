"""Decode Kafka records to columns: frames, schema versions, and the union that Avro reads."""
