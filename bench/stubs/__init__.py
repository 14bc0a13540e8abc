"""Stubs for benchmarks, in processes of their own, so that their cost is in no figure."""
