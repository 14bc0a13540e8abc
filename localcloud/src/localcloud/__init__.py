"""AWS accounts on one machine, for development and tests, with real Kafka, Lambda and Spark."""

from __future__ import annotations

__version__ = "0.1.0"
