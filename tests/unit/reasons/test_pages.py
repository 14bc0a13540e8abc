"""Each reason has a page, and the example of each page is what the code says."""

from __future__ import annotations

import ast
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

from penstock.errors import (
    BrokerError,
    CodecMissingError,
    EventError,
    OperationError,
    PenstockError,
    Reason,
    RegistryError,
    SchemaError,
    TopicChangeError,
    UnencodableValueError,
)
from penstock.extensions.cdc.connector import REASONS as STOPPED
from penstock.extensions.cdc.connector import find_reason
from penstock.extensions.doctor import hops
from penstock.framing import SchemaKey, encode_glue_frame
from penstock.producing import EventProducer, ProducerSettings
from penstock.reasons import find_page, list_pages
from penstock.registry import CachedRegistry
from penstock.registry.glue import _translate
from penstock.registry.memory import MemoryRegistry
from penstock.schemas import Compatibility, check_schema, encode, load_schema
from penstock.schemas.codec import compile_decoder
from penstock.sinks import write_item
from tests.stubs.consuming import FakeErrors, FakeTable, World
from tests.stubs.registries import UNKNOWN, CountedRegistry
from tests.stubs.topic import FakeTopic
from tests.unit.producing.conftest import KAFKA, refused, written


def _kinds(kind: type[PenstockError]) -> Iterator[type[PenstockError]]:
    """Yield the classes below a class, without those that have classes below them."""
    for below in kind.__subclasses__():
        yield from _kinds(below)
    if not kind.__subclasses__():
        yield kind


def _list_codes() -> set[str]:
    """Return the codes of what the doctor finds."""
    folder = Path(hops.__file__).parent
    calls = [
        node
        for path in folder.glob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    ]
    places = {"Break": 0, "break_of": 1}
    codes = [
        call.args[places[call.func.id]]
        for call in calls
        if isinstance(call.func, ast.Name) and call.func.id in places
    ]
    return {str(code.value) for code in codes if isinstance(code, ast.Constant)}


def _names() -> set[str]:
    """Return the reasons of dead letters, the errors that refuse an event, the doctor's codes."""
    tops = (EventError, SchemaError, RegistryError, BrokerError)
    kinds = {each for top in tops for each in _kinds(top) if each.__module__ == "penstock.errors"}
    kinds -= {CodecMissingError, TopicChangeError}  # of who reads and who makes topics
    return _list_codes() | {
        *map(str, Reason),
        *(each.__name__ for each in kinds | {UnencodableValueError}),
    }


def test_each_reason_has_a_page() -> None:
    assert {page.name for page in list_pages()} == _names() | set(STOPPED)


@pytest.mark.parametrize("name", STOPPED)
def test_the_example_of_a_stopped_connector_is_found(name: str) -> None:
    assert find_reason(find_page(name).text.split("```\n")[1]) == name


@pytest.mark.parametrize("page", list_pages(), ids=lambda page: page.name)
def test_a_page_says_what_happened_and_what_to_do(page: Any) -> None:
    headings = [line for line in page.text.splitlines() if line.startswith("#")]
    assert headings == [f"# {page.name}", "## What happened", "## Example", "## What to do"]
    assert page.summary.endswith(".")
    assert "\n" not in page.summary


def test_a_reason_that_is_not_there_is_named() -> None:
    with pytest.raises(OperationError, match="found no reason 'truncatd'; did you mean truncated"):
        find_page("truncatd")
    with pytest.raises(OperationError, match="`penstock explain` lists them"):
        find_page("?")


def _record(kind: Any, name: str = "sensor", field: str = "deviceId") -> dict[str, Any]:
    return {"type": "record", "name": name, "fields": [{"name": field, "type": kind}]}


_TREE = _record(["null", "node"], "node", "next")
_LIST = _record({"type": "array", "items": "long"}, field="a")


def _give_up(make: Callable[[World], bytes]) -> str:
    """Return the detail of the dead letter of a record with this value."""
    world = World(CountedRegistry(), FakeTable(), FakeErrors())
    world.consume(make(world))
    (letter,) = world.errors.rows.values()
    return letter.failure.detail


def _compress(world: World) -> bytes:
    """Return a frame of Glue, as in the page, of 50 MB of zeros."""
    key = SchemaKey.parse("63f3b813-d9b3-4e68-b98f-c3b9a0b23c8b")
    header = encode_glue_frame(key, b"").replace(b"\3\0", b"\3\5", 1)
    return header + zlib.compress(bytes(50_000_000))


def _refuse(*events: Any, mode: Compatibility | None = None, **settings: Any) -> str:
    """Return why the last event is refused, when those before it are written."""
    topic = FakeTopic()
    registry = CachedRegistry(MemoryRegistry(**({"compatibility": mode} if mode else {})))
    producer = EventProducer(
        ProducerSettings(KAFKA, "memory://", **settings),
        registry,
        topic,  # type: ignore[arg-type]
        create_topic=True,
    )
    with topic.in_place():
        if events[:-1]:
            written(producer, *events[:-1])
        return refused(producer, events[-1]).message


def _catch(call: Callable[[], object]) -> str:
    with pytest.raises(PenstockError) as caught:
        call()
    return str(caught.value)


def _nest(levels: int) -> dict[str, Any]:
    return {"o": _nest(levels - 1)} if levels else {}


_WIDENED = compile_decoder(_record("long", field="n"), _record("double", field="n"))
# The examples of the other pages quote a broker, a table or another account.
_EXAMPLES: dict[str, Callable[[], str]] = {
    "unknown-framing": lambda: _give_up(lambda _: b'{"a": 1}'),
    "no-registry-for-framing": lambda: _give_up(lambda _: b"\0\0\0\0\7\2"),
    "truncated": lambda: _give_up(lambda world: world.frame({"temperature": 30})[:-1]),
    "undecodable": lambda: _give_up(lambda world: world.raw(_record(["null", "string"]), b"\6")),
    "trailing-bytes": lambda: _give_up(lambda world: world.frame({"temperature": 30}) + b"x"),
    "invalid-text": lambda: _give_up(lambda world: world.raw(_record("string"), b"\2\xff")),
    "inflate-limit": lambda: _give_up(_compress),
    "unknown-schema": lambda: _give_up(lambda _: encode_glue_frame(UNKNOWN, b"")),
    "recursive-schema": lambda: _catch(lambda: check_schema(_TREE)),
    "lossy-widening": lambda: _catch(
        lambda: _WIDENED(encode({"n": 2**53 + 1}, _record("long", field="n")))
    ),
    "oversize": lambda: _give_up(
        lambda world: world.raw(_LIST, encode({"a": [0] * 500_001}, _LIST))
    ),
    "sink-refused": lambda: _catch(lambda: write_item({"ratio": 1e300})),
    "EventTextError": lambda: _refuse([1]),
    "EventValueError": lambda: _refuse({"t": 2**63}),
    "EventLimitError": lambda: _refuse(_nest(40)),
    "UnencodableValueError": lambda: _catch(lambda: encode(10**5_000, "long")),
    "SchemaConflictError": lambda: _refuse({"temperature": 30}, {"temperature": "warm"}),
    "VersionBudgetError": lambda: _refuse({}, {"a": 1}, version_budget=1),
    "IncompatibleSchemaError": lambda: _refuse({}, {"a": 1}, mode=Compatibility.DISABLED),
    "InvalidSchemaError": lambda: _catch(lambda: load_schema("{")),
    "RecursiveSchemaError": lambda: _catch(lambda: check_schema(_TREE)),
    "RegistryAccessDeniedError": lambda: _answer("AssumeRole", "AccessDenied", "not authorized"),
    "SchemaQuotaError": lambda: _answer(
        "RegisterSchemaVersion",
        "ResourceNumberLimitExceededException",
        "Number of schema versions limit exceeded",
    ),
}


def _answer(operation: str, code: str, message: str) -> str:
    error = ClientError({"Error": {"Code": code, "Message": message}}, operation)
    return str(_translate(error, "registry plant"))


@pytest.mark.parametrize("name", _EXAMPLES)
def test_the_example_of_a_page_is_what_the_code_says(name: str) -> None:
    example = find_page(name).text.split("```\n")[1]
    assert example == f"{_EXAMPLES[name]()}\n"
