"""The retries of sinks."""

from __future__ import annotations

from penstock.attempts import Attempts

# A table throttles many writers at the same time; jitter (`spread`) keeps their retries apart.
CALL_ATTEMPTS = Attempts(first_seconds=0.05, longest_seconds=2, total_seconds=20, spread=True)
