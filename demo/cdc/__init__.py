"""The story of change data capture."""
