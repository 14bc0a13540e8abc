"""Records that failed: why, and into the dead-letter table."""
