"""Watching: Prometheus scrapes the brokers of the demo."""

from __future__ import annotations
