"""The sessions of both accounts, with the clients that hops call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from botocore.session import Session

from penstock.aws import Fault, ask_all_pages, classify
from penstock.credentials import load_session
from penstock.extensions.doctor.deployment import Deployment
from penstock.extensions.doctor.findings import NotSeenError, Side
from penstock.kafka import KafkaSettings

# A hop that is asked in vain must not take the time of the others.
_CONFIG = Config(
    connect_timeout=2, read_timeout=5, retries={"mode": "standard", "total_max_attempts": 2}
)


@dataclass(slots=True)
class Accounts:
    """The sessions by account, and for an account without one, why its credentials are missing.

    `endpoint` is that of all services, in place of those of the environment.
    """

    sessions: Mapping[Side, Session]
    missing: Mapping[Side, str] = field(default_factory=dict)
    endpoint: str | None = None
    _clients: dict[tuple[Side, str], Any] = field(default_factory=dict)

    def client(self, side: Side, service: str) -> Any:
        """Return the client of a service in an account, which is built once.

        Raises:
            NotSeenError: there are no credentials of the account.
        """
        if side not in self.sessions:
            raise NotSeenError(self.missing[side])
        if (side, service) not in self._clients:
            session = self.sessions[side]
            self._clients[side, service] = session.create_client(
                service, endpoint_url=self.endpoint, config=_CONFIG
            )
        return self._clients[side, service]


def open_accounts(deployment: Deployment, profiles: Mapping[Side, str | None]) -> Accounts:
    """Open a session for each account: of its profile, else of the credentials of this process.

    The credentials of this process are of one account, so the other one needs a profile.
    """
    sessions, missing = {}, {}
    for side in Side:
        profile = profiles.get(side)
        session = _load(profile, deployment.region)
        try:
            sts: Any = session.create_client("sts", config=_CONFIG)
            found = sts.get_caller_identity()["Account"]
        except (BotoCoreError, ClientError) as error:
            missing[side] = f"the credentials cannot be used: {error}".rstrip(".")
            continue
        wanted = deployment.account_of(side)
        is_others = found == deployment.account_of(_other(side)) and not profile
        if (wanted and found != wanted) or (not wanted and is_others):
            missing[side] = (
                f"the credentials are of account {found}, expected {wanted or 'the consumer'}; "
                f"name a profile of AWS with --{side}-profile"
            )
            continue
        sessions[side] = session
    return Accounts(sessions, missing)


def _load(profile: str | None, region: str) -> Session:
    if profile is None:
        return load_session(region=region)
    session = Session(profile=profile)
    session.set_config_variable("region", region)
    return session


def _other(side: Side) -> Side:
    return Side.CONSUMER if side is Side.PRODUCER else Side.PRODUCER


@dataclass(frozen=True, slots=True)
class Login:
    """A login of a program of the contract, to connect with."""

    program: str
    settings: KafkaSettings


class World:
    """The deployment that hops look at, and the answers of AWS, each asked for once."""

    def __init__(
        self, deployment: Deployment, accounts: Accounts, login: Login | None = None
    ) -> None:
        self.deployment = deployment
        self.login = login
        self.contract = deployment.contract
        self._accounts = accounts
        self._answers: dict[str, Any] = {}
        self._silent: dict[tuple[Side, str], str] = {}  # services that did not answer, and why

    def outputs(self, side: Side) -> Mapping[str, Any]:
        """Return the outputs of a root.

        Raises:
            NotSeenError: the root was not named.
        """
        if side not in self.deployment.outputs:
            raise NotSeenError(f"name the {side}'s root with --{side}")
        return self.deployment.outputs[side]

    def ask(self, side: Side, service: str, operation: str, **words: Any) -> Any:
        """Call an operation that reads, and return its whole answer; None if there is no resource.

        Raises:
            NotSeenError: the call is not allowed, or is not answered.
        """
        key = f"{side} {service} {operation} {sorted(words.items())}"
        if key not in self._answers:
            self._answers[key] = self._call(
                side, service, lambda client: ask_all_pages(client, operation, **words)
            )
        return self._answers[key]

    def _call(self, side: Side, service: str, read: Callable[[Any], Any]) -> Any:
        client = self._accounts.client(side, service)
        if why := self._silent.get((side, service)):
            raise NotSeenError(why)
        try:
            return read(client)
        except (BotoCoreError, ClientError) as error:
            if (fault := classify(error)) is Fault.MISSING:
                return None
            why = f"{service} does not answer: {error}".rstrip(".")
            if fault is Fault.DOWN:
                self._silent[side, service] = why
            raise NotSeenError(why) from error

    def read_object(self, bucket: str, key: str) -> str:
        """Return the text of a small object in a bucket of the consumer; empty if it is missing.

        Raises:
            NotSeenError: the call is not allowed, or is not answered.
        """
        found: bytes | None = self._call(
            Side.CONSUMER, "s3", lambda s3: s3.get_object(Bucket=bucket, Key=key)["Body"].read()
        )
        return (found or b"").decode()

    def apply(self, side: Side) -> str:
        """Return the command that applies a root."""
        return f"terraform -chdir={self.deployment.folders.get(side, f'infra/{side}')} apply"
