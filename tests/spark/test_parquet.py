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
