"""A rejected event is shown with its reason, and the command that sends it again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.extensions.trace.model import State
from penstock.extensions.trace.operation import Places, Tracer
from penstock.producing import RejectedEvent, RejectedEvents
from penstock.registry import Registries
from tests.fixtures.rejected import bucket

__all__ = ["bucket"]

_EVENT = RejectedEvent(
    {"temperature": "warm"},
    {},
    1_795_234_015_788,
    "SchemaConflictError",
    "found a string",
    "type",
    (),
    "penstock-producer",
    "8f",
    0,
)


def test_it_is_found_until_it_was_sent_again(bucket: str, client: Callable[..., Any]) -> None:
    RejectedEvents(bucket).keep([_EVENT], {})
    tracer = Tracer(Places("no brokers", Registries([]), "no outputs", (), bucket))

    found = tracer.trace(_EVENT.key)

    (step,) = found.steps
    assert (step.state, step.at_ms, found.is_open) == (State.FOUND, _EVENT.timestamp, True)
    assert step.seen == "penstock-producer refused it: SchemaConflictError: found a string"
    assert step.command == f"penstock rejected replay {_EVENT.key}"
    client("s3").put_object(Bucket=bucket, Key=_EVENT.key, Body=b"junk")
    (step,) = tracer.trace(_EVENT.key).steps
    assert step.seen.startswith("it cannot be read: no document of a rejected event")
    RejectedEvents(bucket).delete(_EVENT.key)
    (step,) = tracer.trace(_EVENT.key).steps
    assert step.state is State.MISSING
    tracer = Tracer(Places("no brokers", Registries([]), "no outputs", (), "no-such-bucket"))
    assert tracer.trace(_EVENT.key).steps[0].state is State.NOT_SEEN
