"""Connections to the brokers and the registry, from a host or a function in the consumer's VPC."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from penstock.contract import contract_environ
from penstock.errors import BrokerError, RegistryError
from penstock.extensions.doctor.accounts import Login, World
from penstock.extensions.doctor.findings import Break, NotSeenError, Seen
from penstock.kafka import KafkaSettings, Security, try_access, try_login
from penstock.registry import load_admin, load_registry

_UNCONNECTED = "nothing connects without --connect, on a host in the consumer's VPC"


@dataclass(frozen=True, slots=True)
class Use:
    """The topics, consumer groups and transactional ids that a program uses by its login."""

    program: str
    topics: Sequence[str]
    groups: Sequence[str] = ()
    transactional_ids: Sequence[str] = ()


def look_at_connections(world: World) -> Iterator[Seen | Break]:
    """Connect to each broker: its name, its port, its certificate, and the login."""
    login = _find_login(world)
    yield from connect(login.program, login.settings)


def look_at_access(world: World) -> Iterator[Seen | Break]:
    """Try the topics, the consumer groups and the transactional ids of a program."""
    login = _find_login(world)
    program = _find_program(world, login)
    own = f"{program['group_prefix']}doctor"
    topics = sorted({*program["topics"], *program["writes"]})
    use = Use(login.program, topics, [own], [own] if program["transactions"] else [])
    yield from use_topics(login.settings, use)


def look_at_schemas(world: World) -> Iterator[Seen | Break]:
    """Read the names of the schemas by the reader role, as the consumer's programs do."""
    _find_login(world)
    found = contract_environ(json.dumps({"contract": world.contract}))
    yield from read_registries(found["PENSTOCK_REGISTRY"])


def connect(program: str, settings: KafkaSettings) -> Iterator[Seen | Break]:
    """Connect and log in to each broker of the settings."""
    try:
        tried = try_login(settings)
    except BrokerError as error:  # the secret cannot be read
        tried = {program: error}
    logs_in = settings.security in {Security.IAM, Security.SCRAM}
    for server, problem in tried.items():
        if problem is None:
            yield Seen(f"{server} {'admits' if logs_in else 'answers'} {program}")
        else:
            yield _to_break(server.partition(".")[0], problem, "a login", is_symptom=True)


def use_topics(settings: KafkaSettings, use: Use) -> Iterator[Seen | Break]:
    """Try what a program uses by its login.

    Raises:
        NotSeenError: no broker can be asked.
    """
    try:
        found = try_access(settings, use.topics, use.groups, use.transactional_ids)
    except BrokerError as error:
        raise NotSeenError(f"no broker can be asked: {error}") from error
    for each in found:
        yield _to_break(use.program, each, "what the contract says", is_symptom=False)
    yield Seen(f"{use.program} may use its topics and groups")


def read_registries(urls: str, schema: str = "") -> Iterator[Seen | Break]:
    """Read the names of the schemas of each registry, or the versions of one schema.

    A producer may read its own schema alone.
    """
    for url in urls.split():
        name = url.partition("?")[0]  # the rest may have an external id
        try:
            read = load_registry(url).versions(schema) if schema else load_admin(url).list_names()
        except RegistryError as error:
            yield _to_break(name, error, "an answer", is_symptom=True)
        else:
            yield Seen(f"{name} has {len(read)} {f'versions of {schema}' if schema else 'schemas'}")


def _find_login(world: World) -> Login:
    """Return the login, with all brokers of the contract.

    Raises:
        NotSeenError: the world has no login.
    """
    if world.login is None:
        raise NotSeenError(_UNCONNECTED)
    brokers = world.contract["brokers"].values()
    servers = tuple(f"{broker['host']}:{broker['port']}" for broker in brokers)
    return replace(world.login, settings=replace(world.login.settings, bootstrap_servers=servers))


def _find_program(world: World, login: Login) -> dict[str, Any]:
    programs = world.contract["programs"]
    if login.program not in programs:
        known = ", ".join(sorted(programs))
        raise NotSeenError(f"the contract has no program {login.program}, expected one of {known}")
    found: dict[str, Any] = programs[login.program]
    return found


def _to_break(
    about: str, error: BrokerError | RegistryError, expected: str, *, is_symptom: bool
) -> Break:
    code = type(error).__name__
    mend = f"`penstock explain {code}` says what to do"
    return Break(code, about, str(error), expected, mend, is_symptom)
