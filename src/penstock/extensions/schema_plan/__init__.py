"""Plans for a folder of schema files: what its registration would do, and whom it would affect."""
