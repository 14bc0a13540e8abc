"""The access lists that users are to have: by contracts, and by a file of one's own.

    [{"user": "service-a", "operation": "READ", "topic": "foo-topic"},
     {"user": "service-a", "operation": "READ", "group": "service-a-", "prefix": true},
     {"user": "service-a", "operation": "WRITE", "topic": "bar-topic", "host": "10.0.1.7"}]

The resource is one of `topic`, `group`, `transactional_id` and `"cluster": true`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from penstock.contract import describe_misfit
from penstock.errors import OperationError
from penstock.kafka import AccessList, Reader
from penstock.operations import read_contracts, read_json

_RESOURCES: Final = ("topic", "group", "transactional_id")
_MEMBERS: Final = {"user", "operation", "host", "permission", "prefix", "cluster", *_RESOURCES}
# What Kafka lets a user do with each kind of resource.
_OF_A_TOPIC: Final = (
    *("ALL", "READ", "WRITE", "CREATE", "DELETE", "ALTER", "DESCRIBE"),
    *("DESCRIBE_CONFIGS", "ALTER_CONFIGS"),
)
_OPERATIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "TOPIC": _OF_A_TOPIC,
    "GROUP": ("ALL", "READ", "DELETE", "DESCRIBE", "DESCRIBE_CONFIGS", "ALTER_CONFIGS"),
    "TRANSACTIONAL_ID": ("ALL", "WRITE", "DESCRIBE"),
    "CLUSTER": (
        *("ALL", "CREATE", "ALTER", "DESCRIBE", "CLUSTER_ACTION"),
        *("DESCRIBE_CONFIGS", "ALTER_CONFIGS", "IDEMPOTENT_WRITE"),
    ),
}

Wanted = dict[str, frozenset[AccessList]]  # by user


def read_wanted(producer: Path | None, contracts: Iterable[Path], own: Iterable[Path]) -> Wanted:
    """Return the wanted access lists by user.

    Args:
        producer: the producer's Terraform root, whose contracts are wanted.
        contracts: files of contracts, as `penstock contract` writes them.
        own: files of access lists.

    Raises:
        OperationError: a file or the root cannot be read, or says something that cannot be used.
    """
    wanted = _collect_readers(_read_contracts(producer, contracts))
    for each in (each for path in own for each in _read_own(path)):
        wanted[each.user] = wanted.get(each.user, frozenset()) | {each}
    return wanted


def _read_contracts(producer: Path | None, files: Iterable[Path]) -> Iterator[tuple[str, Any]]:
    """Yield files of contracts, each after the place that it was read from."""
    if producer is not None:
        for name, contract in read_contracts(producer).items():
            yield f"the contract {name} of {producer}", {"contract": contract}
    yield from ((str(path), read_json(path)) for path in files)


def _collect_readers(given: Iterable[tuple[str, Any]]) -> Wanted:
    wanted: Wanted = {}
    places: dict[str, str] = {}
    for place, contract in given:
        for reader in _to_readers(place, contract):
            user = reader.username
            if wanted.setdefault(user, reader.access_lists) != reader.access_lists:
                raise OperationError(
                    f"the user {user} has other access lists in {place} than in {places[user]}, "
                    "expected the same: an apply would delete those of one"
                )
            places.setdefault(user, place)
    return wanted


def _to_readers(place: str, file: Mapping[str, Any]) -> list[Reader]:
    """Return a reader for each user: a program has two in turn."""
    try:
        contract = file["contract"]
        return [
            Reader(
                username,
                tuple(program["topics"]),
                program["group_prefix"],
                tuple(program["writes"]),
                program["transactions"],
                tuple(each["group_prefix"] for each in contract["programs"].values()),
            )
            for program in contract["programs"].values()
            for username in program["usernames"]
        ]
    except (KeyError, TypeError, AttributeError) as error:
        raise OperationError(
            f"{place} cannot be used, expected what `penstock contract` writes: "
            f"{describe_misfit(error)}"
        ) from error


def _read_own(path: Path) -> Iterator[AccessList]:
    entries = read_json(path)
    if not isinstance(entries, list):
        raise OperationError(f"{path} is no list, expected a list of objects")
    for number, entry in enumerate(entries, 1):
        try:
            yield _read_entry(entry)
        except ValueError as error:
            raise OperationError(f"{path}, entry {number}: {error}") from error


def _read_entry(entry: Any) -> AccessList:
    if not isinstance(entry, dict):
        raise ValueError(f"found {entry!r}, expected an object with user, operation and resource")
    if unknown := sorted(entry.keys() - _MEMBERS):
        raise ValueError(f"found {', '.join(unknown)}, expected only {', '.join(sorted(_MEMBERS))}")
    permission = entry.get("permission", "ALLOW")
    if permission != "ALLOW":
        raise ValueError(
            f"permission is {permission!r}, expected ALLOW: a deny rule is stronger than every "
            "allow rule, also than those of its author; leave out what allows it instead"
        )
    kind, name = _read_resource(entry)
    operation, prefix = entry.get("operation"), entry.get("prefix", False)
    if operation not in _OPERATIONS[kind]:
        expected = ", ".join(_OPERATIONS[kind])
        raise ValueError(f"operation is {operation!r}, expected one of {expected}")
    if not isinstance(prefix, bool) or (prefix and kind == "CLUSTER"):
        raise ValueError(f"prefix is {prefix!r}, expected true or false, and none for the cluster")
    return AccessList(
        _read_text(entry, "user"),
        operation,
        kind,
        name,
        prefix,
        _read_text(entry, "host") if "host" in entry else "*",
    )


def _read_resource(entry: Mapping[str, Any]) -> tuple[str, str]:
    named = [each for each in (*_RESOURCES, "cluster") if each in entry]
    if len(named) != 1:
        found = " and ".join(named) or "no resource"
        raise ValueError(f"found {found}, expected one of {', '.join(_RESOURCES)} or cluster")
    if named == ["cluster"]:
        if entry["cluster"] is not True:
            raise ValueError(f"cluster is {entry['cluster']!r}, expected true")
        return "CLUSTER", "kafka-cluster"
    return named[0].upper(), _read_text(entry, named[0])


def _read_text(entry: Mapping[str, Any], member: str) -> str:
    value = entry.get(member)
    if not isinstance(value, str) or not value:
        raise ValueError(f"{member} is {value!r}, expected text")
    return value
