"""`penstock rejected` lists rejected events and sends them again."""

from __future__ import annotations

import dataclasses
import json
import sys
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import pytest
from botocore.session import Session

from localcloud.testing import deploy
from penstock.cli import main
from penstock.errors import SinkUnavailableError
from penstock.producing import RejectedEvent, RejectedEvents
from tests.fixtures.commands import read_json
from tests.fixtures.rejected import bucket, keys_of
from tests.stubs.terminal import Terminal

__all__ = ["bucket"]

_PLACE = {"topic": "sensor", "partition": 2, "offset": 7, "schema": {}}
_EVENT = RejectedEvent(
    event={"temperature": 31},
    base={"deviceId": "000001", "timestamp": 1_795_234_015_788},
    timestamp=1_795_234_015_788,
    reason="DeliveryError",
    detail="not acknowledged within 10 s",
    rule="",
    diff=(),
    function="penstock-producer",
    request_id="r-1",
    index=0,
)
_REFUSAL = {"reason": "SchemaConflictError", "message": "temperature: found text", "kept": "copy"}

Run = Callable[..., tuple[int, str]]


@pytest.fixture
def run(bucket: str, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run the command, and return its exit code and output."""

    def run(*words: str) -> tuple[int, str]:
        code = main(["rejected", *words], {"PENSTOCK_REJECTED_BUCKET": bucket})
        printed = capsys.readouterr()
        return code, printed.out + printed.err

    return run


def _keep(bucket: str, *events: RejectedEvent) -> list[str]:
    RejectedEvents(bucket).keep(events, {})
    return [each.key for each in events]


def _function(client: Callable[..., Any], answer: str) -> str:
    """Deploy a function that answers like a producer; `event` is its input."""
    return deploy(
        client,
        f"import json\ndef handler(text, context):\n    event = json.loads(text)\n    {answer}\n",
    )


def test_events_are_listed_by_producer_and_day(run: Run, bucket: str) -> None:
    other = dataclasses.replace(_EVENT, timestamp=0, request_id="r-2", detail="told once more")
    _keep(bucket, _EVENT, other)

    code, out = run("list")
    assert code == 0
    assert [line.split() for line in out.splitlines()] == [
        ["KEY", "WHEN", "REASON", "DETAIL"],
        [other.key, "1970-01-01T00:00:00.000Z", "DeliveryError", *other.detail.split()],
        [_EVENT.key, "2026-11-21T04:06:55.788Z", "DeliveryError", *_EVENT.detail.split()],
    ]
    _, out = run("list", "penstock-producer/2026/")
    assert [line.split()[0] for line in out.splitlines()] == ["KEY", _EVENT.key]
    told = read_json("rejected list", run("list", "--output", "json")[1])
    assert told == [
        {
            "key": each.key,
            "when": each.received_at,
            "reason": each.reason,
            "detail": each.detail,
            "problem": None,
        }
        for each in (other, _EVENT)
    ]


def test_columns_are_in_line_for_the_longest_keys_and_reasons(run: Run, bucket: str) -> None:
    request = "0b5f4c35-6e3f-4a7c-9d8e-1f2a3b4c5d6e"
    other = {"reason": "RegistryAccessDeniedError", "index": 9_999, "request_id": request}
    _keep(bucket, _EVENT, dataclasses.replace(_EVENT, detail="other", **other))

    header, *rows = run("list")[1].splitlines()

    details = [header.index("DETAIL")] + [
        row.index(detail) for row in rows for detail in ("not ackn", "other") if detail in row
    ]
    assert len(details) == 3
    assert len(set(details)) == 1


def test_an_error_has_no_header_before_it(run: Run) -> None:
    code, out = run("list", "--bucket", "no-such-bucket-of-penstock")

    assert (code, len(out.splitlines())) == (1, 1)
    assert out.startswith("penstock: s3://no-such-bucket-of-penstock/ cannot be listed")


def test_a_list_without_events_is_a_header(run: Run) -> None:
    assert run("list")[1].split() == ["KEY", "WHEN", "REASON", "DETAIL"]
    assert run("list", "--output", "json") == (0, "")


def test_an_event_cannot_control_the_terminal(run: Run, bucket: str) -> None:
    _keep(bucket, dataclasses.replace(_EVENT, detail="\x1b[2Jgone\n\u202etxet\x9b é"))

    _, out = run("list")

    assert out.endswith(" \\x1b[2Jgone\\n\\u202etxet\\x9b é\n")
    assert len(out.splitlines()) == 2


def test_an_event_is_written_and_then_deleted(
    run: Run, client: Callable[..., Any], bucket: str
) -> None:
    source = f"assert event == [{_EVENT.with_base()!r}], event\n    return [{_PLACE!r}]"
    function = _function(client, source)
    (key,) = _keep(bucket, dataclasses.replace(_EVENT, function=function))

    code, out = run("replay", key)

    assert out == f"{key} is written as sensor/2/7\n1 written, 0 stay\n"
    assert (code, keys_of(client, bucket)) == (0, [])


def test_a_replay_is_told_as_json(run: Run, client: Callable[..., Any], bucket: str) -> None:
    refuse = f"[{{'error': {_REFUSAL!r}}}]"
    function = _function(client, f"return {refuse} if event[0]['n'] else [{_PLACE!r}]")
    events = [
        dataclasses.replace(_EVENT, event={"n": n}, index=n, function=function) for n in range(2)
    ]
    keys = _keep(bucket, *events)

    code, out = run("replay", f"{function}/2026/", "--output", "json")

    assert code == 1
    assert read_json("rejected replay", out) == [
        {"key": keys[0], "record": "sensor/2/7", "written": 1, "rejected": 0, "problem": None},
        {
            "key": keys[1],
            "record": None,
            "written": 0,
            "rejected": 0,
            "problem": "SchemaConflictError: temperature: found text",
        },
        {"summary": {"written": 1, "stay": 1}},
    ]


def test_an_event_that_is_rejected_again_stays_once(
    run: Run, client: Callable[..., Any], bucket: str
) -> None:
    client("s3").put_object(Bucket=bucket, Key="copy", Body=b"{}")
    function = _function(client, f"return [{{'error': {_REFUSAL!r}}}]")
    (key,) = _keep(bucket, _EVENT)

    code, out = run("replay", "penstock-producer/2026/11", "--function", function)

    assert out == (
        f"{key} stays: SchemaConflictError: temperature: found text\n0 written, 1 stay\n"
    )
    assert (code, keys_of(client, bucket)) == (1, [key])


def test_an_event_that_is_rejected_and_not_kept_again_stays(
    run: Run, client: Callable[..., Any], bucket: str
) -> None:
    function = _function(client, f"return [{{'error': {_REFUSAL | {'kept': None}!r}}}]")
    (key,) = _keep(bucket, _EVENT)

    assert run("replay", key, "--function", function)[0] == 1
    assert keys_of(client, bucket) == [key]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("raise ValueError('boom')", "ValueError: boom"),
        ("return {'statusCode': 200}", "found {'statusCode': 200} as the answer of "),
        ("return []", "found [] as the answer of "),
        ("return event", "as the outcome of an event, expected a record or an error"),
        ("return [{}]", "found {} as the outcome of an event"),
        ("return [None]", "found None as the outcome of an event"),
        ("return [{'error': 'e'}]", "found {'error': 'e'} as the outcome of an event"),
    ],
)
def test_an_event_stays_whatever_the_function_does(
    run: Run, client: Callable[..., Any], bucket: str, answer: str, said: str
) -> None:
    (key,) = _keep(bucket, _EVENT)

    code, out = run("replay", key, "--function", _function(client, answer))

    assert out.startswith(f"{key} stays: ")
    assert said in out
    assert (code, keys_of(client, bucket)) == (1, [key])


def test_a_missing_function_is_an_error(run: Run, client: Callable[..., Any], bucket: str) -> None:
    (key,) = _keep(bucket, dataclasses.replace(_EVENT, function="absent"))

    code, out = run("replay", key)

    assert f"{key} stays: absent cannot be invoked: " in out
    assert "ResourceNotFoundException" in out
    assert (code, keys_of(client, bucket)) == (1, [key])


def test_an_event_goes_to_no_other_function_than_that_of_its_key(
    run: Run, client: Callable[..., Any], bucket: str
) -> None:
    """Whoever may write one folder of the bucket names no function that a replay invokes."""
    function = _function(client, f"return [{_PLACE!r}]")
    document = dataclasses.replace(_EVENT, function=function).write()
    client("s3").put_object(Bucket=bucket, Key=_EVENT.key, Body=document)

    code, out = run("replay", _EVENT.key)

    assert out == (
        f"{_EVENT.key} stays: found {function} as the function of the event, expected the first "
        "part of its key, penstock-producer; send it to a function with --function\n"
        "0 written, 1 stay\n"
    )
    assert (code, keys_of(client, bucket)) == (1, [_EVENT.key])
    assert run("replay", _EVENT.key, "--function", function)[0] == 0
    assert keys_of(client, bucket) == []


def test_an_event_that_stays_does_not_delay_the_others(
    run: Run, client: Callable[..., Any], bucket: str
) -> None:
    refuse = f"[{{'error': {_REFUSAL!r}}}]"
    source = f"return {refuse} if event[0]['n'] % 2 else [{_PLACE!r}]"
    events = [
        dataclasses.replace(_EVENT, event={"n": n}, index=n, function=_function(client, source))
        for n in range(2)
    ]
    keys = _keep(bucket, *events)
    client("s3").put_object(Bucket=bucket, Key="2026/11/21/zzz", Body=b"{}")

    code, out = run("replay", "2026/11/21/", *keys, keys[0])

    assert out.splitlines()[-1] == "1 written, 2 stay"
    problem = (
        "no document of a rejected event: the field event is missing; mend or delete "
        f"s3://{bucket}/2026/11/21/zzz by hand"
    )
    assert f"2026/11/21/zzz stays: {problem}\n" in out
    assert (code, keys_of(client, bucket)) == (1, ["2026/11/21/zzz", keys[1]])
    code, out = run("list")
    assert code == 1
    assert f"2026/11/21/zzz cannot be read: {problem}\n" in out
    code, out = run("list", "--output", "json")
    broken, left = read_json("rejected list", out)
    assert (code, left["key"], left["problem"]) == (1, keys[1], None)
    assert (broken["key"], broken["when"]) == ("2026/11/21/zzz", None)
    assert broken["problem"] == problem


def test_a_broken_document_does_not_end_the_list(
    run: Run, client: Callable[..., Any], bucket: str
) -> None:
    (key,) = _keep(bucket, _EVENT)
    document = json.loads(_EVENT.write())
    for name, broken in {"0": {"stampedAt": "soon"}, "1": {"reason": None}}.items():
        client("s3").put_object(Bucket=bucket, Key=name, Body=json.dumps(document | broken))

    code, out = run("list")

    first, second, last = out.splitlines()[1:]
    assert first.startswith("0 cannot be read: no document of a rejected event: ")
    assert second.startswith("1 cannot be read: no document of a rejected event: ")
    assert (code, last.split()[0]) == (1, key)


def test_a_key_that_no_event_has_replays_nothing(
    run: Run, client: Callable[..., Any], bucket: str
) -> None:
    keys = _keep(bucket, _EVENT)

    code, out = run("replay", keys[0], "2026/12/24")

    assert out == (
        f"penstock: found no event in {bucket} whose key begins with 2026/12/24, expected a key "
        "that `penstock rejected list` shows, or the beginning of one; nothing was sent\n"
    )
    assert (code, keys_of(client, bucket)) == (1, keys)


def test_an_empty_key_replays_nothing(run: Run, client: Callable[..., Any], bucket: str) -> None:
    keys = _keep(bucket, _EVENT)

    code, out = run("replay", keys[0], "")

    assert out == (
        "penstock: found an empty key, expected a key or a prefix such as "
        "penstock-producer/2026/11/21\n"
    )
    assert (code, keys_of(client, bucket)) == (1, keys)


@pytest.mark.parametrize(
    ("variables", "problem"),
    [
        ({"AWS_PROFILE": "absent"}, "The config profile (absent) could not be found"),
        ({"AWS_CONFIG_FILE": __file__}, f"Unable to parse config file: {__file__}"),
    ],
    ids=["profile", "configuration"],
)
@pytest.mark.parametrize("words", [["list"], ["replay", "k"]], ids=" ".join)
def test_an_unusable_configuration_is_an_error(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    variables: dict[str, str],
    problem: str,
) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    for module in ("penstock.producing.rejected", "penstock.operations.clients"):
        monkeypatch.setattr(f"{module}.load_session", lambda **_: Session())

    assert main(["rejected", *words, "--bucket", "b"], {}) == 1

    said = capsys.readouterr().err
    assert said.startswith("penstock: ")
    assert said.endswith(f": {problem}\n")


def test_a_replay_has_a_progress_bar(run: Run, client: Callable[..., Any], bucket: str) -> None:
    (key,) = _keep(bucket, dataclasses.replace(_EVENT, function=_function(client, "return [0]")))

    with patch.object(sys, "stderr", Terminal()) as stderr:
        run("replay", key)
        run("list")

    assert "\r\x1b[K0 events, " in stderr.getvalue()
    pointer = "penstock: `penstock explain REASON` says what to do\n"
    assert stderr.getvalue().endswith(f"\r\x1b[K{pointer}")


@pytest.mark.parametrize(
    ("outcome", "said"),
    [
        (_PLACE, "the event is written, so delete the object by hand, or a replay writes it again"),
        (
            {"error": _REFUSAL},
            f"it is a second copy of {_EVENT.key}, so delete it by hand, or a replay sends both",
        ),
    ],
    ids=["written", "rejected again"],
)
def test_an_object_that_cannot_be_deleted_is_an_error(
    run: Run, client: Callable[..., Any], bucket: str, outcome: Any, said: str
) -> None:
    function = _function(client, f"return [{outcome!r}]")
    (key,) = _keep(bucket, _EVENT)
    with patch.object(RejectedEvents, "delete", side_effect=SinkUnavailableError("down")):
        assert run("replay", key, "--function", function) == (1, f"penstock: down; {said}\n")


def test_a_missing_bucket_is_an_error(run: Run) -> None:
    code, out = run("list", "--bucket", "absent")

    assert code == 1
    assert "penstock: s3://absent/ cannot be listed: " in out


def test_replay_requires_a_key(run: Run) -> None:
    with pytest.raises(SystemExit) as caught:
        run("replay")

    assert caught.value.code == 2


@pytest.mark.parametrize("words", [["list"], ["replay", "k"]])
def test_the_bucket_is_required(capsys: pytest.CaptureFixture[str], words: list[str]) -> None:
    for given in ([], ["--bucket", ""]):
        assert main(["rejected", *words, *given], {}) == 2
        assert capsys.readouterr().err == (
            "penstock: PENSTOCK_REJECTED_BUCKET (--bucket) is missing, expected the bucket of "
            "rejected events\n"
        )
