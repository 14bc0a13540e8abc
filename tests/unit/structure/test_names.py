"""Names: fields of a reading are known to `penstock.records` alone, private functions can be found.

The sensor's reading is one shape of rows among others. A private function is named by its object,
as `_read_marker`: a search for `_read` alone would find one in every second module.
"""

from __future__ import annotations

import re
from pathlib import Path

_SOURCE = Path(__file__).parents[3] / "src/penstock"
_MODULES = sorted(path for path in _SOURCE.rglob("*.py") if "records" not in path.parts)
_FIELDS = re.compile(r"""deviceId|readingId|["']timestamp["']""")
# Kafka's own field of that name, and Spark's type of that name.
_NOT_THE_FIELD = {
    "cli/_read.py",
    "consuming/mapping.py",
    "spark/sinks/iceberg.py",
    "spark/rows.py",
    "spark/failures.py",
    "extensions/drift/_footers.py",
    "extensions/drift/_iceberg.py",
    "extensions/drift/_rows.py",
    "extensions/trace/topic.py",
    "tables/hive_types.py",
    "tables/columns.py",
    "tables/events.py",
    "tables/glue_columns.py",
}
_WITHOUT_OBJECT = re.compile(r"def (_(?:ask|describe|do|end|find|get|list|make|read|write))\(")


def test_modules_name_no_field_of_a_reading() -> None:
    fields = {
        str(path.relative_to(_SOURCE)): set(_FIELDS.findall(path.read_text())) for path in _MODULES
    }

    assert {
        name
        for name, found in fields.items()
        if not {each.strip("\"'") for each in found}
        <= ({"timestamp"} if name in _NOT_THE_FIELD else set())
    } == set()


def test_a_field_is_found() -> None:
    assert _FIELDS.findall("""event["deviceId"], row['timestamp'], "readingId" """) == [
        "deviceId", "'timestamp'", "readingId",
    ]  # fmt: skip


def test_private_functions_are_named_by_their_object() -> None:
    found = {
        f"{path.relative_to(_SOURCE)}: {name}"
        for path in _SOURCE.rglob("*.py")
        for name in _WITHOUT_OBJECT.findall(path.read_text())
    }

    assert found == set()
    assert _WITHOUT_OBJECT.findall("def _read(self):") == ["_read"]


def test_the_variables_of_the_roots_are_spelled_once() -> None:
    spelled = [
        str(path.relative_to(_SOURCE))
        for path in _MODULES
        if re.search("PENSTOCK_(PRODUCER|CONSUMER)_ROOT", path.read_text())
    ]

    assert spelled == ["cli/profiles.py"]
