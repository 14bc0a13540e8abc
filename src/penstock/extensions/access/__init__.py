"""Access lists of Kafka: the wanted ones against the found ones, listed, planned and applied."""

from __future__ import annotations
