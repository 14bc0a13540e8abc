"""The proof: the same live schema changes, sent to Penstock and to its peers."""
