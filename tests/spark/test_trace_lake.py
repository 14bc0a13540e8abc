"""A row that somebody deleted is in no file of a trace, though its data file still has it."""

from __future__ import annotations

from penstock.extensions.trace import lake
from penstock.extensions.trace.lake import find_files
from penstock.records import Source
from tests.spark.lakes import make_rows, part


def test_a_row_that_a_delete_file_deletes_is_not_found(spark, reader, monkeypatch):
    reader.lake.write(make_rows(spark, "n int", (0,), (1,), (2,)).coalesce(1), part(0, 0))
    reader.delete("_offset = 1")
    monkeypatch.setattr(lake, "_load_table", lambda name: reader.load())
    found = {
        offset: find_files(reader.name, Source("t", 0, offset), None, None) for offset in range(3)
    }

    assert spark.table(f"{reader.name}.delete_files").count() == 1
    assert found[1] == ()
    assert [(each.rows, each.operation) for each in found[0] + found[2]] == [(1, "append")] * 2
