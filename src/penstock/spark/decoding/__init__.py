"""Records of Kafka to columns: frames, versions, the union that Avro reads."""
