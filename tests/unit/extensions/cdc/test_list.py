"""`penstock cdc list` shows the connectors of the producer's account, and what stops them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from botocore.stub import Stubber

from penstock.cli import main
from systems.sessions import make_session
from tests.fixtures.commands import read_json
from tests.fixtures.outputs import put_out

__all__ = ["put_out"]

_ARN = "arn:aws:kafkaconnect:eu-central-1:111111111111:connector/penstock-cdc-{}/1"
_PLATFORM = {"prefix": "penstock", "region": "eu-central-1", "account_id": "111111111111"}
_LOG = "Caused by: replication slot 'a' does not exist".replace("'", '"')


@pytest.fixture
def root(put_out: Callable[..., Path]) -> str:
    return str(put_out(platform=_PLATFORM))


@pytest.fixture
def services(monkeypatch: pytest.MonkeyPatch) -> dict[str, Stubber]:
    """Clients that send nothing, by service."""
    session = make_session("111111111111")
    stubs = {
        each: Stubber(session.create_client(each))
        for each in ("sts", "kafkaconnect", "cloudwatch", "logs")
    }

    class Session:
        def create_client(self, service: str) -> Any:
            stubs[service].activate()
            return stubs[service].client

    def load(*, region: str) -> Session:
        assert region == _PLATFORM["region"]
        return Session()

    monkeypatch.setattr("penstock.extensions.cdc.command.load_session", load)
    return stubs


def _answer(
    services: dict[str, Stubber], *names: str, failed: str = "", state: str = "RUNNING"
) -> None:
    shown = [
        {
            "connectorName": f"penstock-cdc-{name}",
            "connectorArn": _ARN.format(name),
            "connectorState": "FAILED" if name == failed else state,
            "creationTime": datetime.fromtimestamp(0, UTC),
        }
        for name in names
    ]
    services["sts"].add_response("get_caller_identity", {"Account": _PLATFORM["account_id"]})
    services["kafkaconnect"].add_response("list_connectors", {"connectors": shown})
    for name in names:
        alarm = {
            "AlarmName": f"penstock-cdc-{name}-failed",
            "StateValue": "ALARM" if name == failed else "OK",
        }
        services["cloudwatch"].add_response("describe_alarms", {"MetricAlarms": [alarm]})
    if failed:
        services["logs"].add_response("filter_log_events", {"events": [{"message": _LOG}]})


def test_connectors_are_listed(
    services: dict[str, Stubber], root: str, capsys: pytest.CaptureFixture[str]
) -> None:
    _answer(services, "films", "orders", failed="films")
    assert main(["cdc", "list", "--output=json"], {"PENSTOCK_PRODUCER_ROOT": root}) == 2

    films, orders = read_json("cdc list", capsys.readouterr().out)
    assert films == {
        "name": "penstock-cdc-films",
        "arn": _ARN.format("films"),
        "state": "FAILED",
        "alarms": ["penstock-cdc-films-failed"],
        "reason": "capture-slot-missing",
    }
    assert (orders["state"], orders["reason"]) == ("RUNNING", "")

    _answer(services, "films", "orders", failed="films")
    assert main(["cdc", "list", "--producer", root], {}) == 2
    header, line, _ = capsys.readouterr().out.splitlines()
    assert header.split() == ["CONNECTOR", "STATE", "REASON", "ALARMS"]
    assert line.split() == [*list(films.values())[:1], "FAILED", films["reason"], *films["alarms"]]


def test_all_of_them_run_or_none_is_there(
    services: dict[str, Stubber], root: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for names in (("films",), ()):
        _answer(services, *names)
        assert main(["cdc", "list", "--producer", root], {}) == 0
        assert len(capsys.readouterr().out.splitlines()) == 1 + len(names)


@pytest.mark.parametrize(("state", "code"), [("UPDATING", 0), ("PAUSED", 2)])
def test_a_connector_that_is_updated_is_fine_and_a_paused_one_is_not(
    services: dict[str, Stubber],
    root: str,
    capsys: pytest.CaptureFixture[str],
    state: str,
    code: int,
) -> None:
    _answer(services, "films", state=state)
    assert main(["cdc", "list", "--producer", root, "--output=json"], {}) == code
    (found,) = read_json("cdc list", capsys.readouterr().out)
    assert (found["state"], found["reason"]) == (state, "capture-paused" if code else "")


def test_a_denied_call_is_an_error(
    services: dict[str, Stubber], root: str, capsys: pytest.CaptureFixture[str]
) -> None:
    services["sts"].add_response("get_caller_identity", {"Account": _PLATFORM["account_id"]})
    services["kafkaconnect"].add_client_error("list_connectors", "AccessDeniedException", "no")

    assert main(["cdc", "list", "--producer", root], {}) == 1
    assert "penstock: kafkaconnect refused list_connectors: " in capsys.readouterr().err


def test_connectors_of_another_account_are_not_those_of_the_root(
    services: dict[str, Stubber], root: str, capsys: pytest.CaptureFixture[str]
) -> None:
    services["sts"].add_response("get_caller_identity", {"Account": "222222222222"})

    assert main(["cdc", "list", "--producer", root], {}) == 1
    assert capsys.readouterr().err == (
        "penstock: the credentials are of account 222222222222, expected 111111111111, the account"
        f" of {root}\n"
    )


def test_a_root_that_is_not_applied_has_no_connectors(
    put_out: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    root = put_out()

    assert main(["cdc", "list", "--producer", str(root)], {}) == 1
    said = f"penstock: found no output `platform` in {root}; apply it first, or name another root"
    assert capsys.readouterr().err.startswith(said)
