"""The topics of a cluster."""
