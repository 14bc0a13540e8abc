"""The accounts that the tests act as."""

from __future__ import annotations

PRODUCER = "111111111111"
CONSUMER = "222222222222"
STRANGER = "333333333333"
