"""The clock of the producer function is wrong."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from localcloud.testing import invoke
from systems.clocks import write_clock
from systems.trials import Trials
from tests.lambdas.producer.conftest import Producers

pytestmark = pytest.mark.kafka

_EVENT = {"deviceId": "d-1", "timestamp": 1_795_234_000_000, "count": 1}


# Lambda tells until when a function may work, which a clock that is ahead takes for over.
@pytest.mark.parametrize(
    ("minutes", "said"),
    [
        (-16, "answered glue:ListSchemaVersions with InvalidSignatureException: Signature expired"),
        (16, "its schema is not registered after 0 s"),
    ],
    ids=["behind", "ahead"],
)
def test_a_sender_is_told_that_the_event_is_nowhere(
    producers: Producers, fault: Callable[[str], Trials], tmp_path: Path, minutes: int, said: str
) -> None:
    """AWS lets it neither register nor keep; once the clock is right, the event is there once."""
    clocks = fault("clock")
    producers.set_environment(PYTHONPATH=write_clock(tmp_path / "clock", 60 * minutes))
    answer, _ = invoke(producers.client, producers.function, _EVENT)
    assert answer["errorType"] == "UndeliveredEventError"
    assert said in answer["errorMessage"]
    assert "the event is not kept" in answer["errorMessage"]
    clocks.count_seen(1)

    producers.set_environment(PYTHONPATH="")
    with clocks.recovery():
        _, error = invoke(producers.client, producers.function, _EVENT)

    assert error is None
    found = [(event["count"], event) for _, event in producers.records(producers.registry())]
    clocks.check(found, {1: _EVENT})
