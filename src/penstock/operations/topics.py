"""The records of a topic, each with its schema and its event."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import Any, Final

from penstock.consuming import RecordReader, SchemaReaders, make_key_finder
from penstock.errors import Failure, PenstockError
from penstock.framing import SchemaKey
from penstock.kafka import KafkaSettings, Start, read_topic
from penstock.records import FailedRecord, KeyFormat, Record, Row, Source, decode_key
from penstock.registry import (
    Registries,
    SchemaVersion,
    backups_setting,
    load_registries,
    unframed_setting,
)
from penstock.settings import Settings, nested, setting

_STAGE: Final = "terminal"


@dataclass(frozen=True, slots=True)
class ReadSettings(Settings):
    """The brokers and the registries."""

    kafka: KafkaSettings = nested(KafkaSettings)
    registry: str = setting(
        "PENSTOCK_REGISTRY",
        "URLs of the schema registries, separated by spaces, one for each kind of frames; without "
        "one, values are shown as text",
        default="",
        secret=True,  # it may contain an external id
    )
    registry_backups: tuple[str, ...] = backups_setting()
    unframed: tuple[tuple[str, SchemaKey], ...] = unframed_setting()
    key_format: KeyFormat | None = setting(
        "PENSTOCK_KEY_FORMAT",
        "the format of Kafka's keys, which are then shown as values: avro (in a frame, as values"
        " are), string, int or long [keys are shown as text]",
        parse=KeyFormat,
        default=None,
    )


@dataclass(frozen=True, slots=True)
class ReadRecord:
    """A record of a topic: its event and the version it was written with, or why it has none.

    `key` is the value of the key, None where no format of keys was given.
    """

    record: Record
    key: Any = None
    version: SchemaVersion | None = None
    event: Any = None
    failure: Failure | None = None


def read_records(
    settings: ReadSettings,
    topic: str,
    start: Start = "beginning",
    *,
    partition: int | None = None,
    follow: bool = False,
) -> Iterator[ReadRecord]:
    """Yield the records of a topic from a place to its end, each decoded by itself.

    Raises:
        SettingsError: a URL names no registry.
        RegistryError: a registry cannot be asked.
        OperationError, BrokerError: see `kafka.read_topic`.
    """
    urls, backups, unframed = settings.registry, settings.registry_backups, dict(settings.unframed)
    has_registry = urls or backups
    registries = load_registries(urls, backups, unframed) if has_registry else Registries([])
    schemas = SchemaReaders(registries)
    reader = RecordReader(registries.framing, schemas, _STAGE, keys=schemas)
    raw = read_raw_records(settings.kafka, topic, start, partition=partition, follow=follow)
    for record in raw:
        schemas.begin()
        yield _decode_record(record, settings.key_format, reader, registries)


def read_raw_records(
    settings: KafkaSettings,
    topic: str,
    start: Start = "beginning",
    *,
    partition: int | None = None,
    follow: bool = False,
) -> Generator[Record]:
    """Yield the records of a topic from a place to its end, not decoded.

    Raises:
        OperationError, BrokerError: see `kafka.read_topic`.
    """
    for found in read_topic(settings, topic, start, partition=partition, follow=follow):
        source = Source(found.topic, found.partition, found.offset)
        headers = tuple(found.headers or ())
        yield Record(source, found.key, found.value, headers, found.timestamp)


def _decode_record(
    record: Record, key_format: KeyFormat | None, reader: RecordReader, registries: Registries
) -> ReadRecord:
    find = make_key_finder(reader.keys, record)
    key = None
    try:
        if key_format is not None:
            key = decode_key(key_format, record, registries.framing, find)
    except PenstockError as error:
        return ReadRecord(record, failure=Failure.of(error))
    outcome = reader.read(record)
    version = _find_version(record, registries)
    match outcome:
        case Row():
            return ReadRecord(record, key, version, outcome.values)
        case FailedRecord():
            return ReadRecord(record, key, version, failure=outcome.failure)
    return ReadRecord(record, key)


def _find_version(record: Record, registries: Registries) -> SchemaVersion | None:
    """Return the version that a record was written in, if there is one."""
    key = registries.read_key(record.value, record.headers, record.source.topic)
    try:
        return registries.find(key) if key else None
    except PenstockError:
        return None
