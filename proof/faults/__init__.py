"""Faults under the systems: `python -m proof.faults`."""
