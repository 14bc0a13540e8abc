"""The tree drawn at the head of errors.py is the tree that the classes make."""

from __future__ import annotations

import inspect
import pickle

import pytest

from penstock import errors
from penstock.errors import (
    EventValueError,
    Failure,
    IncompatibleSchemaError,
    PenstockError,
    Reason,
    SettingsError,
    SinkUnavailableError,
    TruncatedFrameError,
)


def _drawn() -> dict[str, str]:
    """Each class of the drawing with the class it hangs from."""
    parents: dict[str, str] = {}
    above = {-1: "Exception"}
    for line in inspect.getdoc(errors).splitlines():
        name = line.lstrip("│├└─ ").split(" ")[0]
        if name.endswith("Error"):
            depth = (len(line) - len(line.lstrip("│├└─ "))) // 4
            above[depth] = name
            parents[name] = above[depth - 1]
    return parents


def test_the_drawing_is_the_tree() -> None:
    classes = {
        name: kind.__base__.__name__
        for name, kind in vars(errors).items()
        if inspect.isclass(kind) and issubclass(kind, PenstockError)
    }

    assert _drawn() == classes


def test_every_reason_is_one_word_for_the_error_table() -> None:
    assert len(Reason) == 17
    assert all(reason.value == reason.name.lower().replace("_", "-") for reason in Reason)


def test_an_error_with_a_reason_is_never_retriable() -> None:
    kinds = [getattr(errors, name) for name in _drawn()]

    assert [kind.__name__ for kind in kinds if kind.retriable and kind.reason] == []
    assert {kind.__name__ for kind in kinds if kind.retriable} == {
        "RegistryAccessDeniedError",
        "RegistryAnswerError",
        "RegistryUnavailableError",
        "BrokerUnavailableError",
        "DeliveryError",
        "SinkAccessDeniedError",
        "SinkUnavailableError",
        "UndeliveredEventError",
    }


@pytest.mark.parametrize(
    ("problems", "message"),
    [
        (["PORT is 'x', expected a number"], "PORT is 'x', expected a number"),
        (["a", "b"], "2 settings are wrong: a; b"),
    ],
)
def test_all_problems_of_settings_are_in_one_message(problems: list[str], message: str) -> None:
    error = SettingsError(problems)

    assert str(error) == message
    assert error.problems == tuple(problems)


@pytest.mark.parametrize(
    "error",
    [
        SettingsError(["a", "b"]),
        EventValueError("a: found x, expected y", path="a"),
        IncompatibleSchemaError("refused", rule="BACKWARD", diff="- a: long"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_an_error_can_be_pickled(error: PenstockError) -> None:
    copy = pickle.loads(pickle.dumps(error))

    assert (type(copy), str(copy), vars(copy)) == (type(error), str(error), vars(error))


def test_a_failure_has_the_reason_and_message_of_an_error() -> None:
    failure = Failure.of(TruncatedFrameError("found 3 bytes, expected a header of 18"))

    assert failure == Failure(Reason.TRUNCATED, "found 3 bytes, expected a header of 18")


@pytest.mark.parametrize("error", [SinkUnavailableError("down"), SettingsError(["wrong"])])
def test_an_error_without_a_reason_is_raised_again(error: PenstockError) -> None:
    with pytest.raises(type(error)) as caught:
        Failure.of(error)

    assert caught.value is error
