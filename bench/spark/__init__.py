"""What the rungs of Spark are measured with: records, a world to read them in, and the ways."""
