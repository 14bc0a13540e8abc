"""A producer that is restored from a snapshot answers its first event as any other does."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from localcloud.testing import invoke
from tests.fixtures.snapshots import needs_snapshots, running_from_snapshot
from tests.lambdas.producer.conftest import Producers

pytestmark = [pytest.mark.kafka, needs_snapshots]


def test_its_first_events_are_written_and_kept_with_new_keys(
    producers: Producers, client: Callable[..., Any], tmp_path: Path
) -> None:
    function, package = producers.function, "producer-lambda.zip"
    with running_from_snapshot(client, function, package, tmp_path) as (name, version):
        time.sleep(6)  # the keys of before the snapshot are valid for 5 seconds
        answers = [
            invoke(client, name, event, Qualifier=version)
            for event in ({"temperature": 30}, [{"temperature": 31}, {"temperature": "warm"}])
        ]

    assert [error for _, error in answers] == [None, None]
    (first, (second, refused)) = (answer for answer, _ in answers)
    assert (first["offset"], second["offset"]) == (0, 1)
    assert refused["error"]["reason"] == "SchemaConflictError"
    assert [event["temperature"] for _, event in producers.records(producers.registry())] == [
        30,
        31,
    ]
    assert [each["event"] for each in producers.rejected()] == [{"temperature": "warm"}]
