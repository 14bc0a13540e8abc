"""What is asked for is traced, with tables and versions that are given."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from penstock.cli import main
from penstock.errors import OperationError, RegistryUnavailableError, SinkAccessDeniedError
from penstock.extensions.lineage.drawing import draw_lineage
from penstock.extensions.lineage.model import Lineage, NotSeen
from penstock.extensions.lineage.open_lineage import list_events
from penstock.extensions.lineage.operation import trace_lineage
from penstock.extensions.lineage.stored import StoredTable, Tables
from penstock.extensions.lineage.text import join_numbers, list_lines
from penstock.extensions.lineage.versions import KnownVersion, Versions
from penstock.framing import FrameKind, SchemaKey
from penstock.operations import load_programs
from penstock.registry import SchemaBackup
from penstock.schemas import Compatibility, merge_schemas
from penstock.tables import Column, mark_field, read_event
from tests.fixtures.root_outputs import make_consumer, make_producer, write_outputs
from tests.unit.extensions.lineage.events import check_event

_NEAR, _FAR = "111111111111", "222222222222"
_NOW = datetime(2026, 11, 26, 12, tzinfo=UTC)


def _version(schema: str, number: int, **fields: Any) -> KnownVersion:
    described = [{"name": name, "type": type_} for name, type_ in fields.items()]
    definition = {"type": "record", "name": "r", "fields": described}
    event = read_event(merge_schemas([definition]))
    return KnownVersion(schema, number, (f"{schema}-{number}",), None, event)


class _Versions(Versions):
    """The versions of a test, without a registry."""

    def __init__(self, *versions: KnownVersion) -> None:
        super().__init__("")
        for each in versions:
            self._read[each.schema] = (*self._read.get(each.schema, ()), each)

    def find_names(self, topic: str) -> tuple[str, ...]:
        return (topic,) if topic in self._read else ()

    def read(self, name: str) -> tuple[KnownVersion, ...]:
        return self._read.get(name, ())


class _Tables(Tables):
    """The tables of a test; `read_names` are those that were read."""

    account_id = _NEAR

    def __init__(self, **tables: StoredTable) -> None:
        self.tables = tables
        self.read_names: list[str] = []

    def read(self, kind: str, name: str) -> StoredTable:
        self.read_names.append(name)
        return self.tables.get(name.replace("-", "_").replace(".", "_"), StoredTable(""))


def _columns(*names: str, **types: str) -> tuple[Column, ...]:
    return tuple(Column(name, types.get(name, "string"), mark_field("", name)) for name in names)


def _trace(
    what: str,
    tmp_path: Path,
    tables: _Tables,
    *versions: KnownVersion,
    account: str = _NEAR,
    jobs: tuple[str, ...] = ("consume", "routed"),
    **outputs: Any,
) -> Lineage:
    consumer = make_consumer(jobs=jobs) | outputs
    consumer["platform"] |= {"account_id": account, "region": "eu-central-1"}
    files = [
        write_outputs(tmp_path / "consumer.json", consumer),
        write_outputs(tmp_path / "producer.json", make_producer()),
    ]
    return trace_lineage(what, load_programs(files), _Versions(*versions), tables)


_SENSOR = (
    _version("sensor", 1, deviceId="string", timestamp="string"),
    _version("sensor", 2, deviceId="string", timestamp="string", level="int"),
)
_PUMP = _version("pump", 1, id="long", site="string")


def test_a_schema_leads_over_its_topic_and_route_to_its_tables(tmp_path: Path) -> None:
    tables = _Tables(lake_pumps=StoredTable("iceberg", _columns("id"), {("plant", "pump-1"): 3}))

    found = _trace("pump", tmp_path, tables, *_SENSOR, _PUMP)

    (topic,) = found.topics
    assert topic.name == "plant"
    assert [(each.program, each.schema) for each in topic.writers] == [("function pumps", "pump")]
    uses = {f"{each.consumer}, {each.program}": each.tables for each in topic.uses}
    assert uses == {
        "analytics, job consume": ("lake.readings", "p-readings"),
        "analytics, job routed": ("lake.pumps", "p-pumps"),
        "analytics, client report": (),
        "audit, consumer, whose outputs are not given": (),
    }
    assert tables.read_names == ["lake.readings", "p-readings", "lake.pumps", "p-pumps"]
    (pumps,) = [each for each in found.tables if each.name == "lake.pumps"]
    assert [(each.schema, each.number, each.rows) for each in pumps.rows or ()] == [("pump", 1, 3)]
    assert "lake.sales" not in {each.name for each in found.tables}


def test_a_table_leads_to_all_its_topics_and_its_columns_to_their_fields(tmp_path: Path) -> None:
    columns = _columns("deviceId", "readingId", "level", "gone", "_topic")
    rows = {("sensor", "sensor-2"): 5, ("plant", "pump-1"): 1, ("plant", "lost"): 2}
    tables = _Tables(p_readings=StoredTable("dynamodb", columns, rows))

    found = _trace("p-readings", tmp_path, tables, *_SENSOR, _PUMP)

    assert [each.name for each in found.topics] == ["plant", "sensor"]
    (table,) = found.tables
    assert table.programs == ("job consume", "function consumer")
    assert table.notes == ("2 rows of plant name the schema lost, which no registry has",)
    sources = {
        each.name: [(source.schema, source.number, source.field, source.rows)
                    for source in each.sources]
        for each in table.columns
    }  # fmt: skip
    assert sources == {
        "deviceId": [("sensor", 1, "deviceId", 0), ("sensor", 2, "deviceId", 5)],
        # It is made of the event time, and of where the record was.
        "readingId": [("sensor", 1, "timestamp", 0), ("sensor", 2, "timestamp", 5)],
        "level": [("sensor", 2, "level", 5)],
        "gone": [],
        "_topic": [],
    }
    assert list(found.list_unexplained()) == ["p-readings.gone"]
    (lines,) = ["\n".join(list_lines(found)).split("p-readings, a table of DynamoDB, ")[1]]
    assert "level      string  <- sensor 2: level int\n" in lines
    assert "gone       string  <- no source: no schema version has such a field\n" in lines


def test_a_column_is_looked_for_in_its_table(tmp_path: Path) -> None:
    columns = _columns("deviceId", "level")
    tables = _Tables(lake_readings=StoredTable("iceberg", columns, {("sensor", "sensor-1"): 1}))

    found = _trace("lake.readings.level", tmp_path, tables, *_SENSOR)

    assert [each.name for each in found.tables[0].columns] == ["level"]
    assert tables.read_names == ["lake.readings"]
    with pytest.raises(
        OperationError,
        match=r"table lake\.readings has no column levels, expected one of deviceId, level$",
    ):
        _trace("lake.readings.levels", tmp_path, tables, *_SENSOR)


def test_an_unknown_name_is_an_error_that_lists_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(OperationError) as caught:
        _trace("sensors", tmp_path, _Tables(), *_SENSOR)

    assert str(caught.value).startswith(
        "found no schema, topic or table sensors in the outputs, expected one of lake.pumps, "
    )


def test_tables_of_another_account_are_not_read(tmp_path: Path) -> None:
    tables = _Tables()

    found = _trace("", tmp_path, tables, *_SENSOR, account=_FAR)

    assert tables.read_names == []
    assert {each.notes for each in found.tables} == {
        (f"it was not read: it is in the account {_FAR}",)
    }


def _name_sources(found: Lineage, table: str) -> dict[str, list[tuple[str, int, str]]]:
    (one,) = [each for each in found.tables if each.name == table]
    return {
        each.name: [(it.schema, it.number, it.field) for it in each.sources]
        for each in one.columns
        if not each.is_own
    }


def test_the_columns_of_a_plan_have_the_fields_that_it_chooses(tmp_path: Path) -> None:
    staged = _columns("deviceid", "Height", "level", "staging_time", "_topic")
    joined = _columns("id", "seq", "of", "staging_time", "_topic")
    tables = _Tables(
        lake_devices=StoredTable("iceberg", staged, {}),
        p_joined=StoredTable("dynamodb", joined, {("plant", "pump-1"): 1}),
    )
    run = _version("pump", 1, id="string", seq="long")

    found = _trace("plant", tmp_path, tables, *_SENSOR, run, jobs=("staged",))
    other = _trace("lake.devices", tmp_path, tables, *_SENSOR, run, jobs=("staged",))

    assert _name_sources(found, "p-joined") == {
        "id": [("pump", 1, "id")],
        "seq": [("pump", 1, "seq")],
        "of": [("sensor", 1, "deviceId"), ("sensor", 2, "deviceId"), ("sensor", 2, "level")],
    }
    assert _name_sources(other, "lake.devices") == {
        "deviceid": [("sensor", 1, "deviceId"), ("sensor", 2, "deviceId")],
        "Height": [("sensor", 2, "level")],
        "level": [],  # the job renames it
    }
    (topic,) = found.topics
    uses = {each.program: each.tables for each in topic.uses}
    assert uses["job staged"] == ("p-runs", "p-joined")


def test_tables_of_changes_and_of_results_have_their_sources(tmp_path: Path) -> None:
    words = ["--topics", "sensor", "--current-table", "films.{table}"]
    totals = {"lake.totals": {"device": ["deviceId"], "sum": ["level"], "window_start": []}}
    described = {
        "films": {"arguments": words},
        "shop-totals": {"tables": ["lake.readings"], "fields": ["level"], "writes": totals},
    }
    unmarked = "snapshots that another program than a job of Penstock appended: 1 of the 1"
    columns = _columns("deviceId", "level", "gone", "_lsn")
    tables = _Tables(
        films_sensor=StoredTable("iceberg", columns, None, unmarked=unmarked),
        lake_totals=StoredTable("iceberg", _columns("device", "sum", "window_start", "gone")),
        lake_readings=StoredTable("iceberg", columns, None, unmarked=unmarked),
    )

    found = _trace("sensor", tmp_path, tables, *_SENSOR, more={"readers": described})

    sources = [("sensor", 1, "deviceId"), ("sensor", 2, "deviceId")]
    assert _name_sources(found, "films.sensor") == {
        "deviceId": sources, "level": [("sensor", 2, "level")], "gone": []
    }  # fmt: skip
    assert _name_sources(found, "lake.totals") == {
        "device": sources, "sum": [("sensor", 2, "level")], "gone": []
    }  # fmt: skip
    notes = {each.name: each.notes for each in found.tables}
    assert notes["films.sensor"] == notes["lake.totals"] == ()  # rows are merged there
    assert notes["lake.readings"] == (unmarked,)
    shown = "  read by     analytics, job shop-totals from lake.readings -> lake.totals"
    assert shown in list(list_lines(found))
    events = list(list_events(found, load_programs([tmp_path / "consumer.json"]), _NOW))
    (job,) = [each for each in events if each["job"]["name"] == "job shop-totals"]
    assert [each["name"] for each in job["inputs"]] == ["table/lake/readings"]


class _Denied(_Tables):
    """Tables of which some cannot be read."""

    def read(self, kind: str, name: str) -> StoredTable:
        if kind == "dynamodb":
            raise SinkAccessDeniedError(f"AccessDenied for {name}")
        return super().read(kind, name)


def test_what_cannot_be_seen_is_named_and_is_no_reason_against_the_rest(tmp_path: Path) -> None:
    tables = _Denied(lake_readings=StoredTable("iceberg", _columns("level", "gone"), {}))
    consumer = write_outputs(tmp_path / "c.json", make_consumer(jobs=("consume",)))
    versions = _Versions(*_SENSOR)
    versions.not_seen["glue://plant"] = "no answer"

    found = trace_lineage("sensor", load_programs([consumer]), versions, tables)

    assert found.not_seen == (
        NotSeen("glue://plant", "no answer"),
        NotSeen("p-readings", "AccessDenied for p-readings"),
    )
    notes = {each.name: each.notes for each in found.tables}
    assert notes["p-readings"] == ("it was not read: AccessDenied for p-readings",)
    assert list(found.list_unexplained()) == []  # the other registry may have the field
    lines = list(list_lines(found))
    assert "  gone   string  <- not known: not every registry was seen" in lines
    assert lines[-3:] == [
        "not seen: glue://plant: no answer",
        "not seen: p-readings: AccessDenied for p-readings",
        "columns without a source: none",
    ]


class _Registry:
    """A registry that fails at a call."""

    kind = FrameKind.GLUE

    def __init__(self, call: str) -> None:
        self._call = call

    def get(self, key: SchemaKey) -> Any:
        return self._answer("get", None)

    def list_names(self) -> list[str]:
        return self._answer("list_names", ["sensor"])

    def read_schema(self, name: str) -> Any:
        return self._answer(
            "read_schema", SchemaBackup(name, Compatibility.FULL, 1, "AVRO", "", {}, ())
        )

    def _answer(self, call: str, value: Any) -> Any:
        if call == self._call:
            raise RegistryUnavailableError("no answer in 5 s")
        return value


@pytest.mark.parametrize("call", ["load", "list_names", "read_schema", "get"])
def test_a_registry_that_does_not_answer_is_not_seen(
    call: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def load(url: str) -> _Registry:
        if call == "load":
            raise RegistryUnavailableError("no answer in 5 s")
        return _Registry(call if "far" in url else "")

    monkeypatch.setattr("penstock.extensions.lineage.versions.load_admin", load)
    versions = Versions("glue://far?external_id=secret")

    is_listed = call in {"read_schema", "get"}
    assert versions.find_names("sensor") == (("sensor",) if is_listed else ())
    assert versions.read("sensor") == ()
    assert call != "get" or versions.find("00000000-0000-4000-8000-000000000000") is None
    assert versions.not_seen == {"glue://far": "no answer in 5 s"}


def test_versions_that_a_table_does_not_tell_are_not_counted(tmp_path: Path) -> None:
    tables = _Tables(lake_readings=StoredTable("iceberg", _columns("level"), None))

    found = _trace("lake.readings.level", tmp_path, tables, *_SENSOR)

    (column,) = found.tables[0].columns
    assert [(each.number, each.rows) for each in column.sources] == [(2, None)]
    lines = list(list_lines(found))
    assert "  level  string  <- sensor 2: level int" in lines
    assert not any(line.startswith("  rows:") for line in lines)


def test_each_program_is_an_event_that_openlineage_accepts(tmp_path: Path) -> None:
    tables = _Tables(lake_readings=StoredTable("iceberg", _columns("level", "gone"), {}))
    found = _trace("", tmp_path, tables, *_SENSOR, _PUMP)

    events = list(list_events(found, load_programs([tmp_path / "consumer.json"]), _NOW))

    for event in events:
        check_event(event)
    jobs = [(event["job"]["namespace"], event["job"]["name"]) for event in events]
    assert len(set(jobs)) == len(jobs) == 8
    (job,) = [event for event in events if event["job"]["name"] == "job consume"]
    assert [each["name"] for each in job["inputs"]] == ["plant", "sensor"]
    assert job["inputs"][0]["facets"]["version"]["datasetVersion"] == "pump 1"


def test_a_picture_has_what_it_is_given_as_text(tmp_path: Path) -> None:
    names = ("level", "<script>", "x" * 300)
    tables = _Tables(lake_readings=StoredTable("iceberg", _columns(*names), {}))

    drawn = draw_lineage(_trace("lake.readings", tmp_path, tables, *_SENSOR))

    svg = "{http://www.w3.org/2000/svg}"
    root = ElementTree.fromstring(drawn)  # noqa: S314 - our own
    shown = [each.text or "" for each in root.iter(f"{svg}text")]
    assert "<script> string" in shown
    assert max(map(len, shown)) < 60
    lost = [each for each in root.findall(f"{svg}rect") if each.get("stroke") == "#d1495b"]
    assert [(each.find(f"{svg}title").text or "")[:8] for each in lost] == ["<script>", "xxxxxxxx"]  # type: ignore[union-attr]
    places = [(each.get("x"), each.get("y")) for each in root.findall(f"{svg}rect")]
    assert len(set(places)) == len(places)


def test_a_lineage_of_nothing_is_a_picture() -> None:
    drawn = ElementTree.fromstring(draw_lineage(Lineage((), ())))  # noqa: S314 - our own
    assert drawn.tag.endswith("svg")


@pytest.mark.parametrize(
    ("numbers", "text"), [([1], "1"), ([2, 1], "1-2"), ([1, 2, 3, 7, 9, 10], "1-3, 7, 9-10")]
)
def test_numbers_of_versions_are_shown_as_runs(numbers: list[int], text: str) -> None:
    assert join_numbers(numbers) == text


def test_a_moment_without_an_offset_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["lineage", "--outputs", "o.json", "--as-of", "2026-11-26T12:00"], {})

    assert caught.value.code == 1
    assert (
        "found '2026-11-26T12:00', expected a time with UTC offset, such as 2026-11-26T12:00Z"
        in capsys.readouterr().err
    )
