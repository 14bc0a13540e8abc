"""How long sinks try again."""

from __future__ import annotations

from penstock.attempts import Attempts

# Tables throttle writers together, so those who are turned away together must part company.
CALL_ATTEMPTS = Attempts(first_seconds=0.05, longest_seconds=2, total_seconds=20, spread=True)
