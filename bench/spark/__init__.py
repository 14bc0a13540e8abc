"""The records, the world to read them in, and the ways that the rungs of Spark compare."""
