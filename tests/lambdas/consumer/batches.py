"""A batch given to the function from its zip, and the rows that came of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from localcloud.testing import invoke
from systems.consumers import Consumer
from tests.lambdas.consumer.model import Model

NewModel = Callable[[Consumer], Model]
DONE = {"batchItemFailures": []}


def rows_of(consumer: Consumer, model: Model) -> tuple[list[Any], list[Any]]:
    """The rows that came from the model's topic."""
    return (
        [row for row in consumer.rows("readings") if row["_topic"] == model.topic],
        [row for row in consumer.rows("errors") if row["id"].startswith(f"{model.topic}/")],
    )


def consume(consumer: Consumer, event: Any) -> Any:
    """Give the function an event, and return its answer."""
    answer, error = invoke(consumer.at_home, consumer.function, event)
    assert error is None, answer
    return answer


def fail(consumer: Consumer, event: Any) -> str:
    """Give the function an event on which it fails, and return what it says."""
    answer, error = invoke(consumer.at_home, consumer.function, event)
    assert error is not None, answer
    return f"{answer['errorType']}: {answer['errorMessage']}"
