"""Lineage as events of OpenLineage: one for each producer, and for each program that reads topics.

Names of datasets are those of OpenLineage for Kafka and Glue; it has none for DynamoDB's tables.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from penstock.extensions.lineage.model import Lineage, Table, TableColumn, Topic, Use
from penstock.operations import Account, Programs

_PRODUCER: Final = "urn:penstock:lineage"  # a URI, as the specification says, without a page
_SPEC: Final = "https://openlineage.io/spec"
_EVENT: Final = f"{_SPEC}/2-0-2/OpenLineage.json#/$defs/JobEvent"
_COLUMNS: Final = "facets/1-2-0/ColumnLineageDatasetFacet.json#/$defs/ColumnLineageDatasetFacet"
_SCHEMA: Final = "facets/1-2-0/SchemaDatasetFacet.json#/$defs/SchemaDatasetFacet"
_VERSION: Final = "facets/1-0-1/DatasetVersionDatasetFacet.json#/$defs/DatasetVersionDatasetFacet"
_UNKNOWN: Final = Account("unknown", "unknown")

Event = dict[str, Any]


def list_events(lineage: Lineage, programs: Programs, now: datetime) -> Iterator[Event]:
    """Yield an event for each producer of the topics, and for each program that reads them."""
    exporter = _Exporter(lineage, programs, (lineage.as_of or now).astimezone(UTC).isoformat())
    for topic in lineage.topics:
        for writer in topic.writers:
            yield exporter.make_event("producer", writer.program, (), [exporter.name_topic(topic)])
    uses = {(use.consumer, use.program): use for topic in lineage.topics for use in topic.uses}
    for use in uses.values():
        yield exporter.describe_use(use)


class _Exporter:
    """Makes events of one moment."""

    def __init__(self, lineage: Lineage, programs: Programs, time: str) -> None:
        self._lineage = lineage
        self._accounts = programs.accounts
        self._kafka = f"kafka://{programs.brokers.partition(',')[0] or 'unknown'}"
        self._time = time

    def make_event(
        self, owner: str, program: str, inputs: Sequence[Event], outputs: Sequence[Event]
    ) -> Event:
        """Return the event of a job."""
        return {
            "eventTime": self._time,
            "producer": _PRODUCER,
            "schemaURL": _EVENT,
            "job": {"namespace": f"penstock/{owner}", "name": program},
            "inputs": list(inputs),
            "outputs": list(outputs),
        }

    def describe_use(self, use: Use) -> Event:
        """Return the event of a program that reads topics."""
        topics = [
            each
            for each in self._lineage.topics
            if any((use.consumer, use.program) == (it.consumer, it.program) for it in each.uses)
        ]
        tables = [
            each
            for each in self._lineage.tables
            if each.consumer == use.consumer and use.program in each.programs
        ]
        read = [each for each in self._lineage.tables if each.name in use.reads]
        inputs = [self._describe_table(each) for each in read if each.consumer == use.consumer]
        inputs = inputs or [self.name_topic(each) for each in topics]
        outputs = [self._describe_table(each) for each in tables]
        return self.make_event(use.consumer, use.program, inputs, outputs)

    def name_topic(self, topic: Topic) -> Event:
        """Return the dataset of a topic; its version is that of the newest schema."""
        facets = {}
        if topic.versions:
            newest = topic.versions[-1]
            facets["version"] = _facet(_VERSION, datasetVersion=f"{newest.schema} {newest.number}")
        return {"namespace": self._kafka, "name": topic.name, "facets": facets}

    def _describe_table(self, table: Table) -> Event:
        account = self._accounts.get(table.consumer, _UNKNOWN)
        service = "dynamodb" if table.kind == "dynamodb" else "glue"
        fields = [{"name": each.name, "type": each.type} for each in table.columns]
        lines = {
            each.name: {"inputFields": inputs}
            for each in table.columns
            if (inputs := self._list_inputs(table, each))
        }
        return {
            "namespace": f"arn:aws:{service}:{account.region}:{account.id}",
            "name": f"table/{table.name.replace('.', '/')}",
            "facets": {
                "schema": _facet(_SCHEMA, fields=fields),
                "columnLineage": _facet(_COLUMNS, fields=lines),
            },
        }

    def _list_inputs(self, table: Table, column: TableColumn) -> list[Event]:
        """Return the fields of a column in the topics whose schemas have them, each once."""
        names = {
            (topic.name, source.field)
            for source in column.sources
            for topic in self._lineage.topics
            if topic.name in table.topics
            and any(each.schema == source.schema for each in topic.versions)
        }
        return [
            {"namespace": self._kafka, "name": topic, "field": field}
            for topic, field in sorted(names)
        ]


def _facet(schema: str, **members: Any) -> Event:
    return {"_producer": _PRODUCER, "_schemaURL": f"{_SPEC}/{schema}", **members}
