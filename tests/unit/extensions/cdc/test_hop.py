"""What is said of connectors: that they run, or the page of what stops them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from penstock.extensions.cdc.hop import look

_OUTPUTS = {"platform": {"prefix": "penstock"}}
_ARN = "arn:aws:kafkaconnect:eu-central-1:111111111111:connector/penstock-cdc-films/1"


def _look(
    state: str = "RUNNING",
    alarms: tuple[str, ...] = (),
    log: str = "",
    stopped: str = "OK",
    age: timedelta = timedelta(hours=1),
) -> list[Any]:
    answers = {
        "list_connectors": {
            "connectors": [
                {
                    "connectorArn": _ARN,
                    "connectorName": "penstock-cdc-films",
                    "connectorState": state,
                    "creationTime": datetime.now(UTC) - age,
                }
            ]
        },
        "describe_alarms": {
            "MetricAlarms": [
                {"AlarmName": "penstock-cdc-films-stopped", "StateValue": stopped},
                *({"AlarmName": each, "StateValue": "ALARM"} for each in alarms),
            ]
        },
        "filter_log_events": {"events": [{"message": each} for each in log.splitlines()]},
    }
    asked: list[Any] = []

    def ask(service: str, operation: str, **words: Any) -> Any:
        asked.append((service, words))
        return answers[operation]

    found = list(look(_OUTPUTS, ask))
    assert asked[0] == ("kafkaconnect", {"connectorNamePrefix": "penstock-cdc-"})
    assert "penstock-cdc-films-retained-log" in asked[1][1]["AlarmNames"]
    return found


_CHANGES = ["CREATING", "UPDATING", "RESTARTING", "PAUSING", "RESUMING", "DELETING"]


@pytest.mark.parametrize("state", ["RUNNING", *_CHANGES])
def test_a_connector_runs_or_is_on_its_way_to_another_state(state: str) -> None:
    assert _look(state) == [{"seen": f"penstock-cdc-films is {state}"}]


@pytest.mark.parametrize("state", _CHANGES)
def test_a_connector_on_its_way_to_another_state_counts_no_tasks(state: str) -> None:
    found = _look(state, stopped="INSUFFICIENT_DATA")
    assert found == [{"seen": f"penstock-cdc-films is {state}"}]


def test_a_new_connector_counts_no_tasks_yet() -> None:
    (found,) = _look(stopped="INSUFFICIENT_DATA", age=timedelta(minutes=10))
    assert found == {"seen": "penstock-cdc-films is RUNNING"}


@pytest.mark.parametrize("alarm", ["stopped", "free-storage"])
def test_a_paused_connector_is_resumed_whatever_its_alarms(alarm: str) -> None:
    alarms = (f"penstock-cdc-films-{alarm}",)
    for found, seen in (
        (_look("PAUSED"), "PAUSED"),
        (_look("PAUSED", alarms), f"PAUSED with the alarms {alarms[0]}"),
    ):
        assert found == [
            {
                "code": "capture-paused",
                "about": "penstock-cdc-films",
                "seen": seen,
                "expected": "RUNNING without an alarm",
                "mend": f"aws kafkaconnect resume-connector --connector-arn {_ARN}",
                "is_symptom": False,
            }
        ]


@pytest.mark.parametrize(
    ("state", "alarms", "seen"),
    [
        ("FAILED", (), "FAILED"),
        (
            "RUNNING",
            ("penstock-cdc-films-failed",),
            "RUNNING with the alarms penstock-cdc-films-failed",
        ),
        (
            "UPDATING",
            ("penstock-cdc-films-stopped",),
            "UPDATING with the alarms penstock-cdc-films-stopped",
        ),
    ],
)
def test_a_connector_has_stopped(state: str, alarms: tuple[str, ...], seen: str) -> None:
    (found,) = _look(state, alarms, 'ERROR\nCaused by: replication slot "a" does not exist')
    assert found == {
        "code": "capture-slot-missing",
        "about": "penstock-cdc-films",
        "seen": seen,
        "expected": "RUNNING without an alarm",
        "mend": f"aws kafkaconnect restart-connector --connector-arn {_ARN}",
        "is_symptom": True,
    }


def test_a_connector_that_counts_its_tasks_no_more_has_stopped() -> None:
    (found,) = _look(stopped="INSUFFICIENT_DATA")
    assert found["code"] == "capture-stopped"
    assert found["seen"] == "RUNNING with the alarms penstock-cdc-films-stopped"


def test_a_database_without_storage_is_named_by_its_alarm() -> None:
    """PostgreSQL says so in its own log; the connector's has a connection that was refused."""
    (found,) = _look("RUNNING", ("penstock-cdc-films-free-storage",), "Connection to db refused")
    assert found["code"] == "capture-disk-full"


def test_a_reason_that_is_not_in_the_log_has_a_page_too() -> None:
    (found,) = _look("FAILED")
    assert found["code"] == "capture-stopped"


def test_an_account_without_connectors_has_nothing_to_say() -> None:
    assert list(look(_OUTPUTS, lambda *_, **__: None)) == []
