"""`penstock doctor` takes the roots of its flags, else of the profile, and prints findings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from penstock.cli import main
from penstock.errors import OperationError
from penstock.extensions.doctor import Finding, Report, Side, State, command
from tests.fixtures.commands import read_json

_PRODUCER, _CONSUMER = "PENSTOCK_PRODUCER_ROOT", "PENSTOCK_CONSUMER_ROOT"
_BROKEN = Finding(
    "listeners", Side.PRODUCER, "1", State.BROKEN, "9097", "9096", "apply", "listener-missing", "b"
)
_OK = Finding("cluster", Side.PRODUCER, "1", State.OK, "it is ACTIVE")


@pytest.mark.parametrize(
    ("words", "environ", "roots"),
    [
        ([], {}, ("infra/consumer", None)),
        ([], {_CONSUMER: "c"}, ("c", None)),
        ([], {_PRODUCER: "p"}, (None, "p")),
        ([], {_PRODUCER: "p", _CONSUMER: "c"}, ("c", None)),
        (["--producer", "q"], {_CONSUMER: "c"}, (None, "q")),
        (["--contract", "f"], {_PRODUCER: "p"}, (None, None)),
    ],
)
def test_the_roots(
    words: list[str],
    environ: dict[str, str],
    roots: tuple[str | None, str | None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[Any] = []

    def read(consumer: Path | None, _: Any, producer: Path | None, name: str | None) -> None:
        asked.append((consumer and str(consumer), producer and str(producer)))
        raise OperationError("there is none")

    monkeypatch.setattr(command, "read_deployment", read)

    assert main(["doctor", *words], environ) == 1
    assert asked == [roots]


def test_the_report_is_an_object(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "read_deployment", lambda *_: None)
    monkeypatch.setattr(command, "open_accounts", lambda *_: None)
    monkeypatch.setattr(command, "World", lambda *_: None)
    monkeypatch.setattr(command, "examine", lambda *_: Report((_OK, _BROKEN)))

    assert main(["doctor", "--output=json"], {}) == 2
    (report,) = read_json("doctor", capsys.readouterr().out)
    ok, broken = report["findings"]
    assert (ok["state"], ok["code"]) == ("ok", "")
    assert (broken["state"], broken["code"], broken["about"]) == ("broken", "listener-missing", "b")
