"""The AWS Glue Schema Registry, in this account or another."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from http.client import HTTPException
from typing import Any, TypeVar
from urllib.parse import quote, urlencode

from botocore.exceptions import BotoCoreError, ClientError, NoRegionError

from penstock.attempts import Attempts
from penstock.aws import AwsClient, Fault, Service, Timeouts, classify
from penstock.credentials import load_session
from penstock.errors import (
    RegistryAccessDeniedError,
    RegistryAnswerError,
    RegistryError,
    RegistryUnavailableError,
    SchemaNotFoundError,
    SchemaQuotaError,
    SettingsError,
)
from penstock.framing import SchemaKey
from penstock.registry._base import (
    GLUE_READINGS,
    PENDING_ATTEMPTS,
    REFUSED_MARK,
    VersionedRegistry,
)
from penstock.registry._validation import AllowList
from penstock.registry.interface import StoredVersion, VersionStatus
from penstock.schemas import Compatibility

_Response = TypeVar("_Response")

_ARN = re.compile(r"arn:[^:]+:glue:[^:]*:[^:]*:schema/(?P<subject>[^/]+/[^/]+)")
_VERSION_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")

# Glue throttles a whole account, so clients that are throttled together need jitter.
_CALL_ATTEMPTS = Attempts(first_seconds=0.1, longest_seconds=3, total_seconds=20, jitter=True)
_CONNECT_SECONDS, _READ_SECONDS = 3.0, 10.0

_ERRORS: dict[Fault, type[RegistryError]] = {
    Fault.DENIED: RegistryAccessDeniedError,
    Fault.SKEWED: RegistryAccessDeniedError,
    Fault.THROTTLED: RegistryUnavailableError,
    Fault.DOWN: RegistryUnavailableError,
    Fault.CONFLICT: RegistryUnavailableError,
    Fault.MISSING: SchemaNotFoundError,
    Fault.FULL: SchemaQuotaError,
}

_PAGE_SIZE = 100  # of ListSchemaVersions, at most


@dataclass(frozen=True, slots=True)
class GlueSettings:
    """The registry, the role to assume for it, and the schemas that may be read.

    `allow` holds patterns REGISTRY/SCHEMA; without any, all schemas of the registry may be read.
    `compatibility` is the mode that a schema gets when a version is registered; without it, a new
    schema gets BACKWARD and others keep theirs. `call_seconds` is the time limit of a call with all
    its retries.
    """

    registry: str
    region: str | None = None
    role_arn: str | None = None
    external_id: str | None = field(default=None, repr=False)
    endpoint: str | None = None
    allow: tuple[str, ...] = ()
    compatibility: Compatibility | None = None
    call_seconds: float = _CALL_ATTEMPTS.total_seconds

    @property
    def source(self) -> str:
        """The URL of these settings, without the external id."""
        shown = {"region": self.region, "role_arn": self.role_arn, "endpoint": self.endpoint}
        pairs = [(key, value) for key, value in shown.items() if value]
        query = urlencode([*pairs, *(("allow", each) for each in self.allow)], safe=":/*")
        return f"glue://{quote(self.registry)}" + (f"?{query}" if query else "")


class GlueRegistry(VersionedRegistry):
    """One registry of the AWS Glue Schema Registry; building it makes no call."""

    _readings = GLUE_READINGS

    def __init__(
        self,
        settings: GlueSettings,
        client: AwsClient | None = None,
        *,
        attempts: Attempts | None = None,
        pending: Attempts = PENDING_ATTEMPTS,
    ) -> None:
        allow = AllowList(settings.allow or (f"{settings.registry}/*",))
        super().__init__(settings.registry, allow, pending, settings.compatibility)
        self._settings = settings
        self._attempts = attempts or replace(_CALL_ATTEMPTS, total_seconds=settings.call_seconds)
        self._glue = client or _build_client(settings)

    @property
    def source(self) -> str:
        """The registry's URL with its allow-list, without secrets."""
        return self._settings.source

    def _find_version(self, name: str, definition: str) -> str | None:
        def find() -> str:
            request = {"SchemaId": self._schema_id(name), "SchemaDefinition": definition}
            return str(self._glue.call("GetSchemaByDefinition", request)["SchemaVersionId"])

        try:
            return self._call(find)
        except SchemaNotFoundError:
            return None

    def _add(self, name: str, definition: str) -> str:
        def add() -> str:
            request = {"SchemaId": self._schema_id(name), "SchemaDefinition": definition}
            return str(self._glue.call("RegisterSchemaVersion", request)["SchemaVersionId"])

        return self._call(add)

    def _create(self, name: str, definition: str) -> str | None:
        return self._create_once(
            {
                "RegistryId": {"RegistryName": self._settings.registry},
                "SchemaName": name,
                "DataFormat": "AVRO",
                "Compatibility": (self._mode or Compatibility.BACKWARD).value,
                "SchemaDefinition": definition,
            }
        )

    def _create_once(self, request: dict[str, Any]) -> str | None:
        """Create a schema and return the id of its first version, or None if the schema exists."""

        def create() -> str | None:
            try:
                return str(self._glue.call("CreateSchema", request)["SchemaVersionId"])
            except ClientError as error:
                # Another producer created it, or an earlier try did and its response was lost.
                if classify(error) is not Fault.EXISTS:
                    raise
                return None

        return self._call(create)

    def _read_version(self, version_id: str) -> StoredVersion:
        if not _VERSION_ID.fullmatch(version_id):
            raise SchemaNotFoundError(
                f"{version_id!r} is not the id of a Glue schema version, expected a UUID"
            )
        try:
            return self._get_version({"SchemaVersionId": version_id})
        except SchemaNotFoundError as error:
            # Glue's own message does not name the version.
            raise SchemaNotFoundError(
                f"schema version {version_id} is not found: {error}"
            ) from error

    def _read_number(self, subject: str, number: int) -> StoredVersion:
        registry, _, name = subject.partition("/")
        return self._get_version(
            {
                "SchemaId": {"RegistryName": registry, "SchemaName": name},
                "SchemaVersionNumber": {"VersionNumber": number},
            }
        )

    def _list_versions(self, name: str) -> Collection[int]:
        numbers: list[int] = []
        request = {"SchemaId": self._schema_id(name), "MaxResults": _PAGE_SIZE}

        def list_page() -> str | None:
            answer = self._glue.call("ListSchemaVersions", request)
            numbers.extend(each["VersionNumber"] for each in answer["Schemas"])
            return answer.get("NextToken")

        while token := self._call(list_page):
            request["NextToken"] = token
        return numbers

    def _get_version(self, request: dict[str, Any]) -> StoredVersion:
        return _parse_version(self._call(lambda: self._glue.call("GetSchemaVersion", request)))

    def _rule(self, name: str) -> tuple[Compatibility, int]:
        def read_rule() -> tuple[Compatibility, int]:
            schema = self._glue.call("GetSchema", {"SchemaId": self._schema_id(name)})
            return Compatibility(schema["Compatibility"]), schema["SchemaCheckpoint"]

        return self._call(read_rule)

    def _change_mode(self, name: str, mode: Compatibility, checkpoint: int) -> None:
        request = {
            "SchemaId": self._schema_id(name),
            "SchemaVersionNumber": {"VersionNumber": checkpoint},
            "Compatibility": mode.value,
        }
        self._call(lambda: self._glue.call("UpdateSchema", request))

    def _mark_refused(self, version_id: str) -> None:
        key, value = REFUSED_MARK

        def mark() -> None:
            request = {
                "SchemaVersionId": version_id,
                "MetadataKeyValue": {"MetadataKey": key, "MetadataValue": value},
            }
            try:
                self._glue.call("PutSchemaVersionMetadata", request)
            except ClientError as error:
                if classify(error) is not Fault.EXISTS:
                    raise

        self._call(mark)

    def _schema_id(self, name: str) -> dict[str, str]:
        return {"RegistryName": self._settings.registry, "SchemaName": name}

    def _call(self, request: Callable[[], _Response]) -> _Response:
        """Make a call, and retry it while the registry is unavailable."""
        for _ in self._attempts:
            try:
                return request()
            except (ClientError, BotoCoreError, OSError, HTTPException) as error:
                cause, problem = error, _translate(error, self.source)
            except (KeyError, TypeError, ValueError) as error:
                raise RegistryAnswerError(
                    f"{self.source} answered with something that cannot be used: {error!r}"
                ) from error
            if not isinstance(problem, RegistryUnavailableError):
                break
        raise problem from cause


def _build_client(settings: GlueSettings) -> AwsClient:
    timeouts = Timeouts(
        min(_CONNECT_SECONDS, settings.call_seconds), min(_READ_SECONDS, settings.call_seconds)
    )
    try:
        session = load_session(
            region=settings.region, role_arn=settings.role_arn, external_id=settings.external_id
        )
        return AwsClient(Service.GLUE, session, endpoint=settings.endpoint, timeouts=timeouts)
    except NoRegionError as error:
        raise SettingsError(
            [f"{settings.source} names no region, expected region=... or AWS_REGION"]
        ) from error
    except (BotoCoreError, ValueError) as error:  # a region, endpoint or profile that is not valid
        raise SettingsError([f"{settings.source} cannot be used: {error}"]) from error


def _parse_version(answer: dict[str, Any]) -> StoredVersion:
    """Return the version in a response of GetSchemaVersion.

    Raises:
        RegistryAnswerError: a part of the response is missing or invalid.
    """
    try:
        return StoredVersion(
            str(SchemaKey.parse(str(answer["SchemaVersionId"]))),
            _parse_arn(answer["SchemaArn"]),
            int(answer["VersionNumber"]),
            VersionStatus(answer["Status"]),
            str(answer["SchemaDefinition"]),
            _parse_time(str(answer.get("CreatedTime"))),
            str(answer["DataFormat"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise RegistryAnswerError(
            f"the registry's answer is not a schema version: {error!r}"
        ) from error


def _parse_arn(arn: str) -> str:
    """Return the REGISTRY/NAME of a schema's ARN."""
    match = _ARN.fullmatch(arn)
    if match is None:
        raise RegistryAnswerError(
            f"the registry answered with ARN {arn!r}, "
            "expected arn:...:glue:...:schema/REGISTRY/NAME"
        )
    return match["subject"]


def _parse_time(text: str) -> datetime | None:
    """Return a time, or None for text in another format, because AWS documents no format."""
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return None
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def _translate(error: Exception, source: str) -> RegistryError:
    """Return the RegistryError for an error of the registry, or of STS when a role was assumed."""
    fault = classify(error)
    if not isinstance(error, ClientError):
        if fault is Fault.DENIED:
            return RegistryAccessDeniedError(
                f"no credentials for {source}: {_without_period(error)}"
            )
        return RegistryUnavailableError(f"no answer from {source}: {_without_period(error)}")
    code = error.response.get("Error", {}).get("Code", "")
    kind = _ERRORS.get(fault, RegistryError)
    text = _without_period(error.response.get("Error", {}).get("Message") or "no reason given")
    if error.operation_name != "AssumeRole":
        return kind(f"{source} answered glue:{error.operation_name} with {code}: {text}")
    if kind is RegistryAccessDeniedError:  # STS does not say which of the two is wrong
        text += ", expected a role that trusts this caller, and the external id that it asks for"
    return kind(f"{source} answered sts:AssumeRole with {code}: {text}")


def _without_period(text: object) -> str:
    return str(text).rstrip(".")
