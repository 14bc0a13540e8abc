"""Copies of schema registries: to another registry, and to a file from which they are restored."""
