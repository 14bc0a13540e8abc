"""The AWS services: a folder each, with its descriptor `SERVICE` in `__init__.py`."""
