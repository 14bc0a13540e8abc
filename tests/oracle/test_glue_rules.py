"""The verdicts of localcloud's Glue against Penstock's and those of Glue's Avro for Java.

localcloud and Penstock read AWS's rules twice, without common code. A difference between them is a
finding: localcloud/docs/glue-compatibility.md lists the known ones, with AWS's sentence.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import cycle
from typing import Any

import pytest

from localcloud.services.glue.registry.avro_resolution import can_read
from localcloud.services.glue.registry.avro_types import (
    AvroType,
    DefinitionError,
    parse_definition,
)
from localcloud.services.glue.registry.compatibility import ComparedWith, Mode, accepts
from penstock import registry
from penstock.errors import RecursiveSchemaError, SchemaError
from penstock.schemas import Compatibility, Schema, check_compatibility, load_schema
from tests.oracle.avro import GLUE, AvroOracle, AvroOracleError
from tests.oracle.evolve import COMPATIBLE, INCOMPATIBLE, evolve
from tests.oracle.generate import Maker

pytestmark = pytest.mark.java

_SEED = 20261126
_MODES = [(mode, reading) for mode in Mode for reading in ComparedWith]


@pytest.fixture(scope="module")
def java() -> Iterator[AvroOracle]:
    with AvroOracle(GLUE) as oracle:
        yield oracle


def _histories(count: int) -> Iterator[list[Any]]:
    """Give versions of a schema, the newest last: each changed from the one before."""
    maker = Maker(random.Random(_SEED))
    changes = cycle([*INCOMPATIBLE, *COMPATIBLE])
    for _ in range(count):
        history = [_complicate(maker.record(), maker)]
        for _ in range(2):
            # Half of the changes are incompatible.
            change = next(changes) if maker.rng.random() < 0.7 else "same"
            history.append(_complicate(evolve(history[-1], maker, change), maker))
        yield history


def _complicate(schema: Any, maker: Maker) -> Any:
    """Add at times what evolved schemas do not have: references, recursion, aliases that clash."""
    fields, chance = schema["fields"], maker.rng.random()
    named = [each["type"]["name"] for each in fields if "name" in each["type"]]
    if chance < 0.15 and named:
        fields.append({"name": maker.name("f"), "type": maker.rng.choice(named)})
        fields[-1]["default"] = None if chance < 0.05 else {}
        if chance > 0.1:
            del fields[-1]["default"]
    elif chance < 0.2:
        itself = ["null", schema["name"]]
        fields.append({"name": maker.name("f"), "type": itself, "default": None})
    elif chance < 0.25:
        maker.rng.choice(fields).setdefault("aliases", []).append(maker.rng.choice(fields)["name"])
    return schema


def _parse(definition: str) -> AvroType | DefinitionError:
    try:
        return parse_definition(definition)
    except DefinitionError as error:
        return error


def _load(definition: str) -> Schema | SchemaError:
    try:
        return load_schema(definition)
    except SchemaError as error:
        return error


def _reads(java: AvroOracle, reader: Any, writer: Any) -> bool:
    try:
        return not java.compare(reader, writer)
    except AvroOracleError as error:  # a reader's field for which the writer has two
        assert "matches multiple fields" in str(error), error
        return False


def _is_valid(java: AvroOracle, schema: Any) -> bool:
    try:
        java.compare(schema, schema)
    except AvroOracleError as error:
        return "matches multiple fields" in str(error)
    return True


def _expect(java: AvroOracle, first: Any, second: Any, new: Any) -> dict[tuple[str, str], bool]:
    """Return Java's verdict for each mode and reading, after two versions."""
    backward = [_reads(java, new, old) for old in (first, second)]
    forward = [_reads(java, old, new) for old in (first, second)]
    verdicts = {}
    for direction, pair in {
        "BACKWARD": backward,
        "FORWARD": forward,
        "FULL": [all(each) for each in zip(backward, forward, strict=True)],
    }.items():
        chosen = {"checkpoint": pair[0], "previous": pair[1], "both": all(pair)}
        verdicts |= {(direction, reading): verdict for reading, verdict in chosen.items()}
        verdicts |= {(f"{direction}_ALL", reading): all(pair) for reading in ComparedWith}
    for reading in ComparedWith:
        verdicts |= {("NONE", reading): True, ("DISABLED", reading): False}
    return verdicts


def _judge_alike(
    type_: AvroType | DefinitionError, schema: Schema | SchemaError, valid: bool
) -> str:
    """Return how a definition was judged, `valid` by Java; only known kinds are judged unlike."""
    if isinstance(type_, AvroType):
        assert valid
        assert not isinstance(schema, SchemaError) or isinstance(schema, RecursiveSchemaError)
        return "recursive" if isinstance(schema, SchemaError) else "valid"
    if valid:
        assert "a default that is a value of fixed" in str(type_)
        return "default of another size"
    if isinstance(schema, SchemaError):
        return "invalid"
    assert "a default that is a value of" in str(type_)
    return "default of a later branch"


def test_three_implementations_agree(java: AvroOracle, trials: Callable[[int, int], int]) -> None:
    seen: Counter[str] = Counter()
    accepted: Counter[tuple[str, str]] = Counter()
    for history in _histories(trials(300, 14_000)):
        texts = [json.dumps(each) for each in history]
        types, schemas = [_parse(text) for text in texts], [_load(text) for text in texts]
        for each, type_, schema in zip(history, types, schemas, strict=True):
            seen[_judge_alike(type_, schema, _is_valid(java, each))] += 1
        if not all(isinstance(each, AvroType) for each in types):
            continue
        expected = _expect(java, *history)
        first, second, new = (each for each in types if isinstance(each, AvroType))
        earlier = {1: first, 2: second}
        found = {(mode, each): accepts(mode, new, earlier, 1, each) for mode, each in _MODES}
        assert found == expected, history
        accepted.update(key for key, verdict in found.items() if verdict)
        seen["pairs"] += 2
        if any(isinstance(each, SchemaError) for each in schemas):
            continue
        ours = {key: not _penstock_refuses(schemas, *key) for key in _MODES}
        assert ours == expected, history
        seen["pairs of all three"] += 2
    print(dict(seen), sorted(accepted.items()))
    total = seen["pairs"] // 2
    assert total >= 200
    assert min(seen["invalid"], seen["recursive"]) >= 3, seen
    for mode in ("BACKWARD", "FORWARD", "FULL"):
        assert 0.05 * total < accepted[f"{mode}_ALL", "both"] < 0.95 * total, accepted
        assert accepted[mode, "checkpoint"] != accepted[mode, "previous"]


_HERE = {"type": "record", "name": "R"}
_UNION = ["null", "string"]


def _with(type_: Any, **more: Any) -> Any:
    return _HERE | {"fields": [{"name": "f", "type": type_, **more}]}


@pytest.mark.parametrize(
    ("definition", "localcloud", "avro", "penstock"),
    [
        (_with(_UNION, default="x"), False, False, True),
        (_with({"type": "map", "values": _UNION}, default={"k": "x"}), False, False, True),
        (_with("int", order="up"), False, False, True),
        (_with(["null", "R"], default=None), True, True, False),
        (_with({"type": "array", "items": "null"}), True, True, False),
        (_with({"type": "fixed", "name": "X", "size": 2**20 + 1}), True, True, False),
        (_with("double", default=2**60), True, True, False),
        (_with({"type": "fixed", "name": "X", "size": 2}, default="a"), False, True, False),
        (_with("bytes", default="\u20ac"), False, True, False),
        (_with([]), False, True, False),
        (_HERE | {"fields": [{"name": "ä", "type": "int"}]}, False, True, False),
        (_HERE | {"namespace": None, "fields": []}, False, True, False),
    ],
    ids=str,
)
def test_definitions_that_are_judged_differently(
    java: AvroOracle, definition: Any, localcloud: bool, avro: bool, penstock: bool
) -> None:
    text = json.dumps(definition)

    assert isinstance(_parse(text), AvroType) == localcloud
    assert _is_valid(java, definition) == avro
    assert (not isinstance(_load(text), SchemaError)) == penstock


def test_an_alias_that_is_written_twice(java: AvroOracle) -> None:
    reader, writer = _with("int"), _with("int")
    reader["fields"][0] |= {"name": "g", "aliases": ["f", "f"]}
    types = [parse_definition(json.dumps(each)) for each in (reader, writer)]

    assert can_read(*types)
    assert _reads(java, reader, writer)
    assert check_compatibility(reader, writer)


def _penstock_refuses(schemas: list[Any], mode: Mode, reading: ComparedWith) -> bool:
    *earlier, new = schemas
    available = dict(enumerate(earlier, start=1))
    compared_with = registry.ComparedWith(reading)
    return bool(registry.check_rule(new, available, Compatibility(mode), 1, compared_with))
