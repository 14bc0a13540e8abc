"""SQL over the values that Avro reads: the values for tables, and the faults of records.

Where some versions have 64-bit whole numbers and others a double, Avro returns a union of both.
Here it becomes one double; a whole number that a double may not hold is a fault of its record.
"""

from __future__ import annotations

from collections.abc import Iterator

from penstock.spark.decoding.reader_schema import Place

_LARGEST = 2**53  # as in penstock.schemas: docs/adr/20261121-numbers.md


def write_value(place: Place, sql: str, depth: int = 0) -> str:
    """Return the SQL of the value at a place, without fields that never hold a value."""
    parts = list(_parts(place, sql))
    written = [_write_part(each, value, long, depth) for each, value, long in parts]
    if len(parts) < 2:
        return written[0] if written else sql
    if written == [value for _, value, _ in parts] and not any(long for *_, long in parts):
        return sql
    members = {f"member{at}": value for at, value in enumerate(written)}
    return _struct(sql, members)


def find_invalid_text(place: Place, sql: str, depth: int = 0) -> str:
    """Return the condition that a string is invalid UTF-8; empty if there is no string."""
    texts: list[str] = []
    conditions: list[str] = []
    for each, value, _ in _leaves(place, sql):
        texts += [value] * (each.kind == "string") + [f"map_keys({value})"] * (each.kind == "map")
        if each.item is None:
            continue
        items = value if each.kind == "array" else f"map_values({value})"
        if [inner.kind for inner in each.item.values] == ["string"]:
            texts.append(items)
        elif condition := find_invalid_text(each.item, f"v{depth}", depth + 1):
            conditions.append(f"exists({items}, v{depth} -> {condition})")
    if texts:  # the separator keeps two incomplete characters from forming one
        text = f"concat_ws(',', {', '.join(texts)})"
        # Spark generates a method of its own for what is named twice, and runs it once.
        conditions.insert(0, f"NOT is_valid_utf8({text}) OR octet_length({text}) < 0")
    return _any(conditions)


def find_lossy(place: Place, sql: str, depth: int = 0) -> str:
    """Return the condition that a whole number would be rounded; empty if there is none."""
    conditions = []
    for each, value, long in _leaves(place, sql):
        if long:
            conditions.append(f"{long} NOT BETWEEN -{_LARGEST}L AND {_LARGEST}L")
        elif each.item is not None:
            items = value if each.kind == "array" else f"map_values({value})"
            if condition := find_lossy(each.item, f"v{depth}", depth + 1):
                conditions.append(f"exists({items}, v{depth} -> {condition})")
    return _any(conditions)


def measure_width(place: Place) -> int:
    """Return the number of values in a record, which the size of the generated code grows with.

    A whole number beside a double has code for both, and to tell whether it would be rounded.
    """
    return sum(3 if each.holds_long else 1 for each, *_ in _leaves(place, ""))


def _any(conditions: list[str]) -> str:
    return f"({' OR '.join(conditions)})" if conditions else ""


def _parts(place: Place, sql: str) -> Iterator[tuple[Place, str, str]]:
    """Yield each type that a value may have, its SQL, and the SQL of a long beside a double."""
    apart = len(place.values) > 1 or any(each.holds_long for each in place.values)
    at = 0
    for each in place.values:
        long = f"{sql}.member{at}" if each.holds_long else ""
        at += bool(long)
        yield each, f"{sql}.member{at}" if apart else sql, long
        at += 1


def _leaves(place: Place, sql: str) -> Iterator[tuple[Place, str, str]]:
    """Yield the parts that are not records, at a place and in the records there."""
    for each, value, long in _parts(place, sql):
        if each.kind != "record":
            yield each, value, long
        for name, field in each.fields.items():
            yield from _leaves(field, f"{value}.`{name}`")


def _write_part(place: Place, sql: str, long: str, depth: int) -> str:
    if long:
        return f"coalesce({sql}, CAST({long} AS DOUBLE))"
    if place.item is not None:
        item = f"v{depth}"
        written = write_value(place.item, item, depth + 1)
        if written == item:
            return sql
        if place.kind == "array":
            return f"transform({sql}, {item} -> {written})"
        return f"transform_values({sql}, (k{depth}, {item}) -> {written})"
    given = {name: f"{sql}.`{name}`" for name in place.fields}
    fields = {
        name: write_value(each, given[name], depth)
        for name, each in place.fields.items()
        if not is_empty(each)
    }
    return sql if fields == given else _struct(sql, fields)


def is_empty(place: Place) -> bool:
    """Return whether a place holds only null and empty records, which no table accepts."""
    return all(
        each.kind == "record" and all(map(is_empty, each.fields.values())) for each in place.values
    )


def _struct(sql: str, members: dict[str, str]) -> str:
    inside = ", ".join(f"'{name}', {value}" for name, value in members.items())
    return f"IF({sql} IS NULL, NULL, named_struct({inside}))"
