"""What a replay came to can be told as JSON."""

from __future__ import annotations

import json
from collections import Counter

from penstock.spark.replay import ReplayCounts


def test_counts_by_reason_are_json():
    counts = ReplayCounts(selected=2, failed=2, errors=Counter({"unknown-schema": 2}))
    assert json.loads(json.dumps(counts.to_values())) == {
        "selected": 2,
        "waiting": 0,
        "done": 0,
        "failed": 2,
        "parked": 0,
        "errors": {"unknown-schema": 2},
    }
