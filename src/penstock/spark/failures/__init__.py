"""Failed records: find the reason of each, and write it to the dead-letter table."""
