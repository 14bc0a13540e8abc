"""Penstock: events with changing schemas, carried across AWS accounts."""

__version__ = "0.1.0"
