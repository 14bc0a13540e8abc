"""State beside a checkpoint: Spark's own files, the schema ledger, the lease, topics, losses."""
