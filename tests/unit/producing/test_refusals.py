"""A refusal says whose fault it is, by which rule, and where the event is now."""

from __future__ import annotations

import pytest

from penstock.errors import (
    BrokerLoginError,
    DeliveryError,
    EventTextError,
    IncompatibleSchemaError,
    NotWrittenError,
    PenstockError,
    RecordTooLargeError,
    RegistryAccessDeniedError,
    RejectedEventError,
    SchemaConflictError,
    SchemaLimitError,
    SchemaQuotaError,
    UndeliveredEventError,
    UnencodableValueError,
    VersionBudgetError,
)
from penstock.producing import Refusal, make_refusal


@pytest.mark.parametrize(
    ("error", "rule"),
    [
        (EventTextError("x"), "an event is one JSON object whose values a record can hold"),
        (UnencodableValueError("x"), "an event is one JSON object whose values a record can hold"),
        (SchemaConflictError("x"), "a field keeps its type, only numbers widen"),
        (VersionBudgetError("x"), "a schema has no more versions than its budget"),
        (SchemaLimitError("x"), "every reader can use the schema"),
        (RecordTooLargeError("x"), "a record is no larger than its topic accepts"),
        (IncompatibleSchemaError("x", rule="FULL", diff=""), "FULL"),
        (IncompatibleSchemaError("x", rule="", diff=""), "the registry's own"),
        (DeliveryError("x"), ""),
        (BrokerLoginError("x"), ""),
        (RegistryAccessDeniedError("x"), ""),
        (SchemaQuotaError("x"), ""),
    ],
    ids=lambda value: type(value).__name__,
)
def test_only_an_event_that_breaks_a_rule_is_rejected(error: PenstockError, rule: str) -> None:
    refusal = make_refusal(error)

    assert (refusal.rule, refusal.is_final) == (rule, rule != "")
    assert isinstance(refusal.as_error(None), NotWrittenError)
    assert refusal.as_error(None).retriable == (rule == "")


def test_a_refusal_has_fields_and_a_message() -> None:
    refusal = make_refusal(
        SchemaConflictError("t: found text"), ("~ t: long -> string", "+ u: long")
    )

    assert refusal.describe("2026/11/21/r-0.json") == {
        "error": {
            "type": "RejectedEventError",
            "reason": "SchemaConflictError",
            "message": "t: found text",
            "rule": "a field keeps its type, only numbers widen",
            "diff": ["~ t: long -> string", "+ u: long"],
            "kept": "2026/11/21/r-0.json",
        }
    }
    error = refusal.as_error("2026/11/21/r-0.json")
    assert isinstance(error, RejectedEventError)
    assert str(error) == (
        "SchemaConflictError: t: found text; rule: a field keeps its type, only numbers widen; "
        "diff: ~ t: long -> string, + u: long; the event is kept as 2026/11/21/r-0.json"
    )
    assert (error.rule, error.diff) == (refusal.rule, refusal.diff)


def test_an_undelivered_event_is_another_error_type() -> None:
    refusal = Refusal(DeliveryError("not acknowledged"))

    assert refusal.describe(None)["error"]["type"] == "UndeliveredEventError"
    error = refusal.as_error(None, "the bucket is down")
    assert isinstance(error, UndeliveredEventError)
    assert str(error) == (
        "DeliveryError: not acknowledged; the event is not kept: the bucket is down"
    )


def test_the_diff_of_the_registry_takes_precedence() -> None:
    error = IncompatibleSchemaError("no", rule="BACKWARD", diff="+ a: long\n- b: long")

    assert make_refusal(error, ("ours",)).diff == ("+ a: long", "- b: long")


def test_a_refusal_shows_the_start_of_a_long_message_and_diff() -> None:
    diff = [f"+ f{number}: long" for number in range(60)]

    refusal = make_refusal(IncompatibleSchemaError("x" * 5_000, rule="FULL", diff="\n".join(diff)))

    shown = refusal.describe(None)["error"]
    assert shown["message"] == "x" * 1_000 + "..."
    assert shown["diff"] == [*diff[:50], "10 more"]
    assert len(str(refusal.as_error(None))) < 2_500
