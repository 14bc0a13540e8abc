"""Plain files: the lake's columns, a folder for each batch, and no row twice."""

from __future__ import annotations

import duckdb

from penstock.spark.lake.parquet import ParquetFiles
from tests.spark.lakes import NOON_MS, batch, make_rows


def test_a_batch_that_comes_again_takes_its_own_place(spark, tmp_path):
    files = ParquetFiles(f"{tmp_path}/")
    files.write(make_rows(spark, "a int, _topic string", (1, "mine"), (2, None)), batch(0), 0)
    for _ in range(2):
        grown = make_rows(spark, "a bigint, A double, nothing void", (3, 0.5, None), first=2)
        assert files.write(grown, batch(0), 1) == {}

    folder = tmp_path / "query=q/batch=0"
    assert sorted(path.name for path in folder.iterdir()) == ["part=0", "part=1"]
    found = duckdb.sql(
        "SELECT a, A_2, event_topic, _topic, epoch_ms(_event_time) FROM "
        f"read_parquet('{tmp_path}/**/*.parquet', union_by_name => true) ORDER BY _offset"
    ).fetchall()
    assert found == [
        (1, None, "mine", "t", NOON_MS),
        (2, None, None, "t", NOON_MS),
        (3, 0.5, None, "t", NOON_MS),
    ]


def test_a_complete_part_is_not_overwritten_by_less(spark, tmp_path):
    files = ParquetFiles(str(tmp_path))
    files.write(make_rows(spark, "a int", (1,), (2,)), batch(7), 0)
    files.write(make_rows(spark, "a int", (2,), first=1), batch(7), 0)  # Kafka deleted the first

    folder = tmp_path / "query=q/batch=7/part=0"
    assert sorted(row.a for row in spark.read.parquet(str(folder)).collect()) == [1, 2]


def test_a_part_that_was_cut_off_is_written_again(spark, tmp_path):
    files = ParquetFiles(str(tmp_path))
    folder = tmp_path / "query=q/batch=7/part=0"
    files.write(make_rows(spark, "a int", (1,)), batch(7), 0)
    (folder / "_SUCCESS").unlink()

    files.write(make_rows(spark, "a int", (1,), (2,)), batch(7), 0)

    assert sorted(row.a for row in spark.read.parquet(str(folder)).collect()) == [1, 2]
