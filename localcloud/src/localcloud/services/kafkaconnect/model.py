"""MSK Connect's state, and what every operation does with it."""

from __future__ import annotations

import secrets
import threading
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from localcloud.door.constraints import locked_operation
from localcloud.door.errors import AwsError
from localcloud.door.operations import Call
from localcloud.door.pages import Pages
from localcloud.services.kafkaconnect.worker import ConnectWorker

_PAGES = Pages("nextToken", "maxResults", 100, "BadRequestException")
T = TypeVar("T")


def now() -> datetime:
    """Return the current time, in UTC."""
    return datetime.now(UTC)


def new_version() -> str:
    """Return a version of a connector."""
    return f"K{secrets.token_hex(6).upper()}"


@dataclass(slots=True)
class CustomPlugin:
    """A custom plugin; its file is a copy of the object, as on MSK Connect."""

    arn: str
    name: str
    asked: dict[str, Any]
    tags: dict[str, str]
    file: Path
    size: int
    md5: str
    created: datetime = field(default_factory=now)


@dataclass(slots=True)
class WorkerConfiguration:
    """A worker configuration, which has one revision and never changes."""

    arn: str
    name: str
    description: str
    content: str
    properties: dict[str, str]
    tags: dict[str, str]
    created: datetime = field(default_factory=now)


@dataclass(slots=True)
class ConnectorOperation:
    """A change of a connector, as its operations show it."""

    arn: str
    kind: str
    state: str
    created: datetime = field(default_factory=now)
    ended: datetime | None = None


@dataclass(slots=True)
class Connector:
    """A connector, its settings as they were asked for, and its worker."""

    arn: str
    name: str
    settings: dict[str, Any]
    tags: dict[str, str]
    state: str = "CREATING"
    failure: tuple[str, str] | None = None
    reason: str = ""
    worker: ConnectWorker | None = None
    version: str = field(default_factory=new_version)
    operations: list[ConnectorOperation] = field(default_factory=list)
    created: datetime = field(default_factory=now)
    ended: threading.Event = field(default_factory=threading.Event, repr=False)
    lock: threading.RLock = field(default_factory=threading.RLock, repr=False)

    @property
    def id(self) -> str:
        """Its name and the end of its ARN, which tells connectors of one name apart."""
        return f"{self.name}_{self.arn.rpartition('/')[2]}"

    @property
    def account(self) -> str:
        """The account that owns it."""
        return self.arn.split(":")[4]

    @property
    def region(self) -> str:
        """The region that it runs in."""
        return self.arn.split(":")[3]


@dataclass(slots=True)
class KafkaConnect:
    """MSK Connect in one account and region, everything by its ARN."""

    plugins: dict[str, CustomPlugin] = field(default_factory=dict)
    configurations: dict[str, WorkerConfiguration] = field(default_factory=dict)
    connectors: dict[str, Connector] = field(default_factory=dict)
    lock: threading.RLock = field(default_factory=threading.RLock, repr=False)


connect_operation = partial(locked_operation, "kafkaconnect", "BadRequestException", KafkaConnect)


def make_arn(call: Call, kind: str, name: str) -> str:
    """Return a new ARN of connectors, custom plugins or worker configurations."""
    end = f"{uuid.uuid4()}-{secrets.randbelow(6) + 1}"
    return f"arn:aws:kafkaconnect:{call.region}:{call.account}:{kind}/{name}/{end}"


def find(known: dict[str, T], arn: str) -> T:
    """Return what an ARN names."""
    if arn not in known:
        raise AwsError("NotFoundException", f"The requested resource doesn't exist: {arn}")
    return known[arn]


def check_current(connector: Connector, version: str) -> None:
    """Raise AwsError for a version that is not the connector's."""
    if version != connector.version:
        raise bad_request(
            f"The current version of the connector is {connector.version}, not {version}"
        )


def bad_request(message: str) -> AwsError:
    """Return the error of a request that MSK Connect does not accept."""
    return AwsError("BadRequestException", message)


def not_supported(what: str) -> AwsError:
    """Return the error of what MSK Connect has and localcloud does not."""
    return AwsError("NotImplemented", f"localcloud's MSK Connect has no {what}", status=501)


def check_new(names: list[str], name: str, what: str) -> None:
    """Raise AwsError for a name that exists."""
    if name in names:
        raise AwsError("ConflictException", f"A {what} with the name {name} already exists")


def cut_page(call: Call, found: list[T], of: Callable[[T], str]) -> tuple[list[T], dict[str, str]]:
    """Return the page that a call requests, of those whose names begin as it says."""
    prefix = call.params.get("namePrefix") or call.params.get("connectorNamePrefix") or ""
    return _PAGES.cut(call, [each for each in found if of(each).startswith(prefix)])
