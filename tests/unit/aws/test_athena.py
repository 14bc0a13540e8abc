"""Queries of Athena: bounded waits, retries, and errors in plain words."""

from __future__ import annotations

import json
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from botocore.exceptions import ClientError

from penstock.attempts import Attempts
from penstock.aws import Answer, Athena, athena
from penstock.errors import OperationError, SinkAccessDeniedError, SinkUnavailableError
from tests.stubs.clock import FakeTime

_THROTTLED = ("ThrottlingException", 400)
_ENDED = {"Status": {"State": "SUCCEEDED"}, "Statistics": {"DataScannedInBytes": 7}}
_PAGES = [
    {"ResultSet": {"Rows": [{"Data": [{"VarCharValue": "n"}]}]}, "NextToken": "1"},
    {"ResultSet": {"Rows": [{"Data": [{"VarCharValue": "5"}]}, {"Data": [{}]}]}},
]


class Service:
    """Answers calls in the order of its script, by operation."""

    def __init__(self, **script: list[Any]) -> None:
        self.endpoint = "https://athena"
        self.script = {"StartQueryExecution": [{"QueryExecutionId": "q"}], **script}
        self.calls: list[str] = []

    def send(self, operation: str, body: bytes) -> Answer:
        self.calls.append(operation)
        answers = self.script.get(operation, [{}])
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, tuple):
            code, status = answer
            return Answer(status, {}, json.dumps({"__type": code, "message": "why."}).encode())
        return Answer(200, {}, json.dumps(answer).encode())


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A function that asks a scripted service."""

    def ask(service: Service) -> Any:
        monkeypatch.setattr(athena, "AwsClient", lambda *_: service)
        clock = iter(range(0, 10**6, 10))
        quick = Attempts(1, 1, 60, sleep=lambda _: None, clock=lambda: next(clock))
        made = Athena("work", 60, SimpleNamespace(), attempts=quick)  # type: ignore[arg-type]
        monkeypatch.setattr(made, "_waits", quick)
        return made.ask("SELECT 1", "lake")

    return ask


def test_rows_come_by_name_from_every_page(asked: Any) -> None:
    running = {"QueryExecution": {"Status": {"State": "RUNNING"}}}
    service = Service(
        GetQueryExecution=[running, _THROTTLED, OSError("reset"), {"QueryExecution": _ENDED}],
        GetQueryResults=list(_PAGES),
    )

    answer = asked(service)

    assert answer.rows == ({"n": "5"}, {"n": None})
    assert (answer.id, answer.scanned_bytes) == ("q", 7)
    assert "StopQueryExecution" not in service.calls


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (
            {"State": "CANCELLED", "StateChangeReason": "x : Bytes scanned limit was exceeded"},
            "query q would scan more than the limit of the work group work, expected less: check "
            r"fewer days \(--since of penstock quality\), or raise the limit$",
        ),
        (
            {"State": "FAILED", "StateChangeReason": "TABLE_NOT_FOUND: it is not there."},
            "query q is FAILED: TABLE_NOT_FOUND: it is not there$",
        ),
    ],
)
def test_a_query_without_a_result_says_why(asked: Any, status: Any, said: str) -> None:
    with pytest.raises(OperationError, match=said):
        asked(Service(GetQueryExecution=[{"QueryExecution": {"Status": status}}]))


def test_a_query_that_does_not_end_is_stopped(asked: Any) -> None:
    service = Service(GetQueryExecution=[{"QueryExecution": {"Status": {"State": "QUEUED"}}}])

    with pytest.raises(SinkUnavailableError, match="q did not end within 60 s, so it was stopped"):
        asked(service)

    assert service.calls[-1] == "StopQueryExecution"


def test_a_query_that_cannot_be_stopped_hides_no_error(
    asked: Any, caplog: pytest.LogCaptureFixture
) -> None:
    denied = ("AccessDeniedException", 400)
    service = Service(GetQueryExecution=[denied], StopQueryExecution=[denied])

    with pytest.raises(SinkAccessDeniedError, match=r"^GetQueryExecution was denied"):
        asked(service)

    assert "query q goes on: StopQueryExecution was denied" in caplog.text


def test_calls_are_repeated_no_longer_than_all_queries_may_take(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    time, service = FakeTime(), Service(GetQueryExecution=[_THROTTLED])
    monkeypatch.setattr(athena, "AwsClient", lambda *_: service)
    attempts = Attempts(1, 5, 60, sleep=time.sleep, clock=time.clock)
    made = Athena("w", 600, SimpleNamespace(), total_seconds=9, attempts=attempts)  # type: ignore[arg-type]
    monkeypatch.setattr(made, "_waits", attempts)
    monkeypatch.setattr(made, "_deadline", time.clock() + 9)

    with pytest.raises(SinkUnavailableError, match=r"^GetQueryExecution failed for 9 s: Thr"):
        made.ask("SELECT 1", "lake")

    assert sum(time.pauses) <= 9


def test_queries_share_the_time_that_all_of_them_have(monkeypatch: pytest.MonkeyPatch) -> None:
    service = Service(GetQueryExecution=[{"QueryExecution": {"Status": {"State": "QUEUED"}}}])
    monkeypatch.setattr(athena, "AwsClient", lambda *_: service)
    made = Athena("work", 600, SimpleNamespace(), total_seconds=0)  # type: ignore[arg-type]

    said = "q did not end within 0 s, which were left of 0 s for all queries together, so it was st"
    with pytest.raises(SinkUnavailableError, match=said):
        made.ask("SELECT 1", "lake")

    assert service.calls == ["StartQueryExecution", "GetQueryExecution", "StopQueryExecution"]


@pytest.mark.parametrize(
    ("answer", "kind", "said"),
    [
        (("AccessDeniedException", 400), SinkAccessDeniedError, "StartQueryExecution was denied"),
        (("InvalidRequestException", 400), OperationError, "StartQueryExecution was refused: Inva"),
        (_THROTTLED, SinkUnavailableError, "failed for 60 s: ThrottlingException: why$"),
        (
            ClientError({"Error": {"Code": "AccessDenied"}}, "AssumeRole"),
            SinkAccessDeniedError,
            "AccessDenied.*AssumeRole",
        ),
        (OSError("reset"), SinkUnavailableError, "failed for 60 s: no answer from https://athena"),
    ],
)
def test_a_call_that_fails_says_why(asked: Any, answer: Any, kind: Any, said: str) -> None:
    with pytest.raises(kind, match=said):
        asked(Service(StartQueryExecution=[answer]))
