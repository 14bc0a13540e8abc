"""Two services that write to each other across accounts, while brokers die and passwords change."""

from __future__ import annotations
