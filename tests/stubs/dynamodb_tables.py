"""DynamoDB's tables in memory, behind the methods that writers call: fast, exact, countable."""

from __future__ import annotations

import json
import operator
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from penstock.attempts import Attempts
from penstock.errors import RowExistsError, RowTooLargeError, SinkRefusedError
from penstock.sinks.dynamodb_client import Body
from penstock.sinks.item_json import read_item

_Item = dict[str, Any]
MAX_ITEM_BYTES = 400 * 1024
_COMPARE = {"=": operator.eq, "<": operator.lt, "<=": operator.le, ">": operator.gt}
_TERM = re.compile(
    r"attribute_(?P<there>not_exists|exists)\((?P<name>[#\w]+)\)"
    r"|(?P<left>[#\w]+) (?P<sign>=|<=|<>|<|>) (?P<right>:\w+)"
    r"|(?P<word>AND|OR|\(|\))"
)


def size(item: _Item) -> int:
    """The bytes of an item, by the rules of DynamoDB."""
    return sum(len(name.encode()) + _size(value) for name, value in item.items())


def _size(value: _Item) -> int:
    ((kind, inside),) = value.items()
    if kind == "S":
        return len(inside.encode())
    if kind == "N":
        return len(inside.strip("-.0")) // 2 + 2
    if kind == "B":
        return len(inside) * 3 // 4
    if kind == "L":
        return 3 + sum(1 + _size(each) for each in inside)
    return 3 + sum(1 + size({name: each}) for name, each in inside.items()) if kind == "M" else 1


def _plain(value: _Item) -> Any:
    return read_item({"_": value})["_"]


_COMMA = re.compile(r", (?![^(]*\))")


@cache
def compile_condition(text: str) -> Callable[[_Item, _Item, _Item], bool]:
    """A function of an item, the expression's names and its values."""
    parts: list[Any] = []
    for found in _TERM.finditer(text):
        parts.append(found["word"].lower() if found["word"] else found.groupdict())
    assert "".join(_TERM.findall(text) and _TERM.sub("", text).split()) == "", text
    source = " ".join(
        each if isinstance(each, str) else f"holds(parts[{place}], item, names, values)"
        for place, each in enumerate(parts)
    )
    scope = {"parts": parts, "holds": _holds}
    return eval(f"lambda item, names, values: {source}", scope)  # noqa: S307


def _holds(term: _Item, item: _Item, names: _Item, values: _Item) -> bool:
    if term["there"]:
        return (names.get(term["name"], term["name"]) in item) == (term["there"] == "exists")
    name = names.get(term["left"], term["left"])
    if term["sign"] == "<>":
        return item.get(name) != values[term["right"]]
    if name not in item or item[name].keys() != values[term["right"]].keys():
        return False
    return _COMPARE[term["sign"]](_plain(item[name]), _plain(values[term["right"]]))


def update(item: _Item, text: str, names: _Item, values: _Item) -> _Item:
    """The item after an update expression of SET, REMOVE and ADD."""
    text, _, added = f" {text}".partition(" ADD ")
    changes, _, removed = text.partition(" REMOVE ")
    changed = dict(item)
    for change in filter(None, _COMMA.split(changes.removeprefix(" SET "))):
        name, _, value = change.partition(" = ")
        name = names.get(name, name)
        if " + " in value:
            first, _, more = value.partition(" + ")
            known = item.get(name) if "if_not_exists" in first else item[name]
            changed[name] = _add(known, values[more])
        else:
            changed[name] = values[value]
    for name in filter(None, removed.split(", ")):
        changed.pop(names.get(name, name), None)
    if added:
        name, value = added.split()
        name = names.get(name, name)
        changed[name] = _add(item.get(name), values[value])
    return changed


def _check_each_once(places: Iterable[tuple[str, str]]) -> None:
    """DynamoDB refuses a batch with a key that comes twice."""
    assert max(Counter(places).values(), default=1) == 1


def _add(known: _Item | None, more: _Item) -> _Item:
    return {"N": str((_plain(known) if known else 0) + _plain(more))}


@dataclass
class Table:
    """Items by partition key, then by sort key."""

    keys: tuple[str, ...]
    parts: dict[str, dict[str, _Item]] = field(default_factory=dict)
    due: dict[str, _Item] = field(default_factory=dict)  # the index of that name
    most_bytes: int = MAX_ITEM_BYTES

    def place(self, key: _Item) -> tuple[str, str]:
        """Return the values of the keys of an item."""
        if missing := set(self.keys) - set(key):
            raise SinkRefusedError(f"the key lacks {missing}")
        values = [key[name]["S"] for name in self.keys]
        for value, most_bytes in zip(values, (2_048, 1_024), strict=False):
            if not 0 < len(value.encode()) <= most_bytes:
                raise SinkRefusedError(f"a key is empty or has more than {most_bytes} bytes")
        return values[0], values[1] if len(values) > 1 else ""

    def get(self, key: _Item) -> _Item | None:
        first, second = self.place(key)
        return self.parts.get(first, {}).get(second)

    def put(self, item: _Item) -> None:
        first, second = self.place(item)
        if (found := size(item)) > self.most_bytes:
            raise RowTooLargeError(f"found an item of {found} bytes, expected {self.most_bytes}")
        self.parts.setdefault(first, {})[second] = item
        if "nextAttemptAt" in item:
            self.due[first] = item
        else:
            self.due.pop(first, None)

    def delete(self, key: _Item) -> None:
        first, second = self.place(key)
        self.parts.get(first, {}).pop(second, None)
        if not self.parts.get(first):
            self.parts.pop(first, None)

    def items(self) -> Iterable[_Item]:
        return [item for part in self.parts.values() for item in part.values()]


class EachCall:
    """Makes calls one after the other."""

    call: Callable[..., Any]

    def call_each(self, operation: str, bodies: Iterable[bytes]) -> Iterator[Exception | None]:
        """Yield the error of each call that is refused, else None."""
        for body in bodies:
            try:
                self.call(operation, body)
            except (RowExistsError, SinkRefusedError) as error:
                yield error
            else:
                yield None


class DynamoDbTables(EachCall):
    """A client of tables in memory; `before` is called before each operation."""

    def __init__(self, tables: dict[str, tuple[str, ...]], *, page: int = 10_000) -> None:
        self.tables = {name: Table(keys) for name, keys in tables.items()}
        self.calls: Counter[str] = Counter()
        self.attempts = Attempts(0, 0, 10, sleep=lambda _: None)
        self.before: Callable[[str], None] = lambda operation: None
        self._page = page

    def call(self, operation: str, body: Body, read: Callable[[Any], Any] = dict) -> Any:
        """Make a call."""
        self.before(operation)
        self.calls[operation] += 1
        made = body if isinstance(body, bytes) else body()
        return read(getattr(self, f"_{operation}")(json.loads(made)))

    def rows(self, table: str) -> list[dict[str, Any]]:
        """All rows as plain values."""
        return [read_item(item) for item in self.tables[table].items()]

    def _check(self, request: _Item, item: _Item | None) -> None:
        condition = compile_condition(request["ConditionExpression"])
        names = request.get("ExpressionAttributeNames", {})
        if not condition(item or {}, names, request.get("ExpressionAttributeValues", {})):
            raise RowExistsError("the condition does not hold")

    def _PutItem(self, request: _Item) -> _Item:
        table = self.tables[request["TableName"]]
        self._check(request, table.get(request["Item"]))
        table.put(request["Item"])
        return {}

    def _UpdateItem(self, request: _Item) -> _Item:
        table = self.tables[request["TableName"]]
        item = table.get(request["Key"])
        self._check(request, item)
        names = request.get("ExpressionAttributeNames", {})
        values = request.get("ExpressionAttributeValues", {})
        table.put(update(item or request["Key"], request["UpdateExpression"], names, values))
        return {}

    def _DeleteItem(self, request: _Item) -> _Item:
        table = self.tables[request["TableName"]]
        self._check(request, table.get(request["Key"]))
        table.delete(request["Key"])
        return {}

    def _BatchWriteItem(self, request: _Item) -> _Item:
        for name, writes in request["RequestItems"].items():
            assert len(writes) <= 25
            items = [each["PutRequest"]["Item"] for each in writes]
            _check_each_once(map(self.tables[name].place, items))
            for item in items:
                self.tables[name].put(item)
        return {}

    def _BatchGetItem(self, request: _Item) -> _Item:
        wanted = request["RequestItems"]
        assert 0 < sum(len(each["Keys"]) for each in wanted.values()) <= 100
        assert all(each["ConsistentRead"] for each in wanted.values())
        for name, each in wanted.items():
            _check_each_once(map(self.tables[name].place, each["Keys"]))
        found = {
            name: [item for key in each["Keys"] if (item := self.tables[name].get(key))]
            for name, each in wanted.items()
        }
        return {"Responses": found}

    def _Query(self, request: _Item) -> _Item:
        table = self.tables[request["TableName"]]
        names, values = request.get("ExpressionAttributeNames", {}), {}
        values = request["ExpressionAttributeValues"]
        condition = compile_condition(request["KeyConditionExpression"])
        if "IndexName" in request:
            found = [each for each in table.due.values() if condition(each, names, values)]
            order = _due_place
        else:
            assert request["ConsistentRead"]
            (partition,) = values.values()
            found, order = list(table.parts.get(partition["S"], {}).values()), table.place
        found.sort(key=order)
        if start := request.get("ExclusiveStartKey"):
            found = [each for each in found if order(each) > order(start)]
        limit = request.get("Limit", self._page)
        page = {"Items": found[:limit]}
        return page | ({"LastEvaluatedKey": found[limit - 1]} if len(found) > limit else {})


def _due_place(item: _Item) -> tuple[Any, ...]:
    return _plain(item["nextAttemptAt"]), item["id"]["S"]
