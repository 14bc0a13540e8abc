"""The lag of consumer groups, for people and for Prometheus."""

from __future__ import annotations
