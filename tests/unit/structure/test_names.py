"""The sensor's reading is one shape of rows among others: its fields are in `penstock.records`."""

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
    "tables/hive_types.py",
    "tables/columns.py",
    "tables/events.py",
    "tables/glue_columns.py",
}


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
