"""Planted bugs, each with the test that must fail: `make mutants`."""
