"""Penstock carries events with changing schemas across AWS accounts."""

__version__ = "0.1.0"
