"""MSK Connect: each connector has a real worker of Kafka Connect on this machine."""

from __future__ import annotations
