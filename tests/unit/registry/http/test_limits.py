"""A look-up ends within the time of one call, and an answer is as large as the limit at most."""

from __future__ import annotations

import gzip
import io
import json
import socket
import threading
import tracemalloc
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any

import pytest
from urllib3 import HTTPResponse, PoolManager

from penstock.errors import (
    RegistryAnswerError,
    RegistryError,
    RegistryUnavailableError,
    SchemaLimitError,
    SchemaNotFoundError,
)
from penstock.framing import SchemaKey
from penstock.registry import ApicurioRegistry, ConfluentRegistry, HttpRegistrySettings
from penstock.registry import _apicurio_index as apicurio_index
from penstock.registry._apicurio_index import GroupIndex
from tests.stubs.clock import FakeTime
from tests.stubs.registries import Reading
from tests.unit.registry.http.conftest import FakeServer

_KEY = SchemaKey.parse("confluent:7")
_PLACES = "GET /schemas/ids/7/versions?deleted=true"
_DEADLINE = 10  # of the fixture `attempts`
# Before a call, during it, or between two artifacts.
_LATE = r"the time of the look-up is up before GET|timed out|not found in time"


class Scripted(dict[str, Any]):
    """Answers of a server by a function, each of which takes a second."""

    def __init__(self, time: FakeTime, answer: Callable[[str], Any]) -> None:
        self._time, self._answer = time, answer

    def get(self, call: str, default: Any = None) -> Any:
        self._time.sleep(1)
        found = self._answer(call)
        return default if found is None else found


@pytest.fixture
def apicurio(server: FakeServer, attempts: Callable[..., Any]) -> ApicurioRegistry:
    given = HttpRegistrySettings("apicurio+http", server.host, group="default")
    return ApicurioRegistry(given, attempts=attempts())


def _answer_apicurio(artifacts: Callable[[str], list[Any]]) -> Callable[[str], Any]:
    def answer(call: str) -> Any:
        if "/search/artifacts" in call:
            found = [] if "globalId=" in call else artifacts(call)
            return {"artifacts": found, "count": 10**18 if found else 0}
        return {"versions": [], "count": 0} if "/versions" in call else {"type": "string"}

    return answer


def test_a_list_without_an_end_costs_no_more_than_the_time_of_a_call(
    server: FakeServer, apicurio: ApicurioRegistry, time: FakeTime
) -> None:
    server.answers = Scripted(time, _answer_apicurio(lambda call: [{"id": f"{call}-value"}]))

    for _ in range(2):
        began = time.now
        with pytest.raises(RegistryUnavailableError, match=_LATE):
            apicurio.get(SchemaKey.parse("apicurio:7"))
        assert time.now - began <= _DEADLINE + 1  # the call that was under way


def test_a_list_of_the_same_page_again_and_again_ends(
    server: FakeServer, apicurio: ApicurioRegistry, time: FakeTime
) -> None:
    server.answers = Scripted(time, _answer_apicurio(lambda _: [{"id": "one-value"}]))

    with pytest.raises(SchemaNotFoundError, match="not found in the allowed artifacts"):
        apicurio.get(SchemaKey.parse("apicurio:7"))

    assert len(server.calls) == 5  # the definition, the newest versions, two pages, an artifact


def test_versions_without_an_end_cost_no_more_than_the_time_of_a_call(
    server: FakeServer, apicurio: ApicurioRegistry, time: FakeTime
) -> None:
    def answer(call: str) -> Any:
        meta = {"globalId": time.now, "version": str(int(time.now)), "state": "ENABLED"}
        meta |= {"createdOn": "2026-01-01T00:00:00+0000", "type": "AVRO"}
        return {"versions": [meta], "count": 10**18}

    server.answers = Scripted(time, answer)

    with pytest.raises(RegistryUnavailableError, match=_LATE):
        apicurio.versions("readings")

    assert len(server.calls) <= _DEADLINE + 1


@pytest.mark.parametrize("by_id", [True, False])
def test_references_without_an_end_cost_no_more_than_the_time_of_a_call(
    server: FakeServer, registry: ConfluentRegistry, reading: Reading, time: FakeTime, by_id: bool
) -> None:
    def answer(call: str) -> Any:
        if call == _PLACES:
            return [{"subject": "readings-value", "version": 1}]
        if call.endswith("/versions"):
            return [1]
        more = {"references": [{"subject": "other", "version": int(time.now)}]}
        version = {"id": 7, "subject": "readings-value", "version": 1}
        return version | more | {"schema": json.dumps(reading())}

    server.answers = Scripted(time, answer)

    with pytest.raises(RegistryUnavailableError, match=_LATE):
        registry.get(_KEY) if by_id else registry.versions("readings")

    assert len(server.calls) <= _DEADLINE + 3  # the list and the version come before


def test_headers_that_drip_are_given_up(attempts: Callable[..., Any], time: FakeTime) -> None:
    def drip(listener: socket.socket) -> None:
        connection, _ = listener.accept()
        with closing(connection):
            connection.sendall(b"HTTP/1.1 200 OK\r\nX: ")
            while not given_up.is_set():
                time.sleep(1)
                connection.sendall(b"x")

    given_up = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listener, ThreadPoolExecutor(1) as pool:
        pool.submit(drip, listener)
        address = f"127.0.0.1:{listener.getsockname()[1]}"
        given = HttpRegistrySettings("confluent+http", address)
        with pytest.raises(RegistryUnavailableError, match=r"no answer from .*Read timed out"):
            ConfluentRegistry(given, attempts=attempts()).get(_KEY)
        given_up.set()


def test_a_look_up_waits_for_another_one_until_its_own_deadline_only() -> None:
    hangs, goes_on = threading.Event(), threading.Event()

    def list_metas(name: str) -> list[Any]:
        if name == "slow":
            hangs.set()
            goes_on.wait(60)
        return [{"globalId": {"quick": 1, "slow": 2}[name]}]

    index = GroupIndex(lambda: iter(["quick", "slow"]), list_metas, lambda: 0.0)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(index.find, 2, 60.0)
        assert hangs.wait(60)
        assert index.find(1, 60.0) == ("quick", {"globalId": 1})  # nothing to wait for
        with pytest.raises(RegistryUnavailableError, match="id 2 was not found in time"):
            index.find(2, 0.05)
        second = pool.submit(index.find, 2, 60.0)
        goes_on.set()
        assert first.result(60) == second.result(60) == ("slow", {"globalId": 2})


def test_an_artifact_that_cannot_be_read_holds_up_no_other(time: FakeTime) -> None:
    def list_metas(name: str) -> list[Any]:
        if name == "broken":
            raise RegistryUnavailableError("no answer")
        return [{"globalId": 2}]

    index = GroupIndex(lambda: iter(["broken", "whole"]), list_metas, time.clock)

    with pytest.raises(RegistryUnavailableError, match="no answer"):
        index.find(2, 60.0)
    assert index.find(2, 60.0) == ("whole", {"globalId": 2})


def test_a_list_goes_on_with_the_page_that_failed(
    server: FakeServer, apicurio: ApicurioRegistry, time: FakeTime
) -> None:
    pages = {"offset=0": ["a", "b"], "offset=2": ["c"]}

    def answer(call: str) -> Any:
        if "/search/artifacts" not in call:
            return _answer_apicurio(lambda _: [])(call)
        found = pages.get(call.rpartition("&")[2]) if "globalId=" not in call else []
        if found is None:
            return (400, "odd")
        return {"artifacts": [{"id": f"{name}-value"} for name in found], "count": 3}

    server.answers = Scripted(time, answer)
    last = pages.pop("offset=2")
    with pytest.raises(RegistryAnswerError, match="with 400: odd"):
        apicurio.get(SchemaKey.parse("apicurio:7"))
    pages["offset=2"] = last

    with pytest.raises(SchemaNotFoundError):
        apicurio.get(SchemaKey.parse("apicurio:7"))

    assert sum("offset=0" in call and "globalId" not in call for call in server.calls) == 1 + 3
    assert [call for call in server.calls if "/c-value/versions" in call]


def test_a_group_of_too_many_artifacts_is_refused(
    monkeypatch: pytest.MonkeyPatch, time: FakeTime
) -> None:
    monkeypatch.setattr(apicurio_index, "_MOST_ARTIFACTS", 2)
    index = GroupIndex(lambda: iter("abc"), lambda _: [], time.clock)

    for _ in range(2):  # it is not taken for a complete pass
        with pytest.raises(RegistryAnswerError, match="lists more than 2 artifacts in the group"):
            index.find(1, 60.0)


@pytest.fixture
def answer_with(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Let every answer have this content and encoding; `old` as urllib3 1.26 reads it."""

    class OldResponse(HTTPResponse):
        def __getattribute__(self, name: str) -> Any:
            if name == "read1":
                raise AttributeError(name)
            return super().__getattribute__(name)

    def answer(content: bytes, encoding: str, old: bool = False) -> None:
        kind = OldResponse if old else HTTPResponse
        headers = {"Content-Encoding": encoding, "Content-Length": str(len(content))}

        def request(*_: object, **__: object) -> HTTPResponse:
            return kind(io.BytesIO(content), headers, 200, preload_content=False)

        monkeypatch.setattr(PoolManager, "request", request)

    return answer


@pytest.fixture
def bomb() -> Iterator[bytes]:
    """A kilobyte for each megabyte."""
    yield gzip.compress(bytes(64 * 2**20))


@pytest.mark.parametrize("old", [False, True], ids=["urllib3 2", "urllib3 1.26"])
def test_an_answer_is_inflated_up_to_the_limit_only(
    registry: ConfluentRegistry, answer_with: Callable[..., None], bomb: bytes, old: bool
) -> None:
    answer_with(bomb, "gzip", old)

    tracemalloc.start()
    with pytest.raises(RegistryAnswerError, match="answered with more than 16777216 bytes"):
        registry.get(_KEY)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert peak < 48 * 2**20


def test_an_answer_in_gzip_is_read(
    registry: ConfluentRegistry, answer_with: Callable[..., None]
) -> None:
    answer_with(gzip.compress(b"[]"), "GZIP")

    with pytest.raises(SchemaNotFoundError, match=r"no subject of .* has it"):
        registry.get(_KEY)


@pytest.mark.parametrize(
    ("content", "encoding", "message"),
    [
        (b"[]", "br", "content encoding 'br', expected none or gzip"),
        (b"[]", "gzip, gzip", "content encoding 'gzip, gzip', expected"),
        (b"[]", "gzip", "gzip that cannot be inflated: Error -3"),
        (gzip.compress(b"[]")[:-4], "gzip", "no answer from .* stream of the answer is cut"),
    ],
)
def test_an_answer_that_cannot_be_inflated_is_an_error(
    registry: ConfluentRegistry,
    answer_with: Callable[..., None],
    content: bytes,
    encoding: str,
    message: str,
) -> None:
    answer_with(content, encoding)

    with pytest.raises(RegistryError, match=message):
        registry.get(_KEY)


def test_a_schema_with_too_many_references_is_refused(
    server: FakeServer, registry: ConfluentRegistry, reading: Reading
) -> None:
    names = [f"R{number}" for number in range(101)]
    for name in names:
        server.put(name, 1, 9, {"type": "record", "name": name, "fields": []})
    references = [{"name": name, "subject": name, "version": 1} for name in names]
    server.put("readings-value", 1, 7, reading(), references=references)

    with pytest.raises(SchemaLimitError, match="a schema has more than 100 references"):
        registry.get(_KEY)

    assert len(server.calls) == 2 + 100
