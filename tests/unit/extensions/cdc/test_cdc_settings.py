"""Settings of jobs/cdc.py: outputs, and the names that topics give them."""

from __future__ import annotations

import pytest

from penstock.errors import SettingsError
from penstock.extensions.cdc.spark import CdcSettings
from penstock.extensions.cdc.spark.job import check_names, open_outputs, open_refined
from penstock.tables import name_table

_FLAGS = (
    "--bootstrap-servers", "b-1:9092", "--security", "plaintext", "--topics", "films.public.film",
    "--registry", "glue", "--checkpoint", "s3://b/c", "--errors-table", "e",
    "--parked-bucket", "p",
)  # fmt: skip


def test_each_output_is_one_setting() -> None:
    settings = CdcSettings.from_args(
        [
            *_FLAGS, "--raw-path", "s3://b/raw", "--flattened-path", "s3://b/flat",
            "--current-table", "lake.{table}", "--history-table", "lake.{table}_history",
            "--current-dynamodb-table", "app-{table}", "--refined-table", "lake.refined",
            "--refined-query", "SELECT * FROM lake.lake.films_public_film",
        ],
        {},
    )  # fmt: skip
    film, actor = "films_public_film", "films_public_film_actor"
    refined = open_refined(settings, [film, actor])
    named = [type(each).__name__ for each in open_outputs(settings, film, refined)]
    others = [type(each).__name__ for each in open_outputs(settings, actor, refined)]

    every = ["ChangeFiles", "ChangeFiles", "CurrentTable", "HistoryTable", "CurrentDynamoDbTable"]
    assert named == [*every, "RefinedTable"]
    assert others == every  # the query does not name its table


def _refine(query: str) -> CdcSettings:
    current = ("--current-table", "lake.{table}", "--refined-table", "lake.refined")
    return CdcSettings.from_args([*_FLAGS, *current, "--refined-query", query], {})


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM lake.lake.a JOIN lake.lake.b USING (id)",
        "SELECT * FROM lake.`lake`.`a` JOIN `lake`.`LAKE`.`B` USING (id)",
    ],
)
def test_a_query_reads_the_current_tables_that_it_names(query: str) -> None:
    refined = open_refined(_refine(query), ["a", "b", "b_c", "c"])

    assert refined is not None
    assert refined.sources == ("lake.a", "lake.b")


def test_a_query_that_names_no_current_table_is_refused() -> None:
    with pytest.raises(SettingsError, match=r"found none of lake\.a, lake\.b in --refined-query"):
        open_refined(_refine("SELECT * FROM lake.lake.c"), ["a", "b"])


@pytest.mark.parametrize(
    ("flags", "problem"),
    [
        ((), "found no output, expected one of --current-table"),
        (("--current-table", "lake.film"), "expected {table} in it, which a topic fills in"),
        (("--raw-path", "r", "--refined-table", "t"), "--refined-query are given together"),
        (
            ("--raw-path", "r", "--refined-table", "t", "--refined-query", "q"),
            "--refined-table needs --current-table",
        ),
    ],
)
def test_settings_that_contradict_each_other(flags: tuple[str, ...], problem: str) -> None:
    with pytest.raises(SettingsError) as refused:
        CdcSettings.from_args([*_FLAGS, *flags], {})
    assert problem in str(refused.value)


_SHARED = r"the table {} for {} of {}, and for {} of {}, expected tables of their own"


def _choose(*flags: str) -> CdcSettings:
    return CdcSettings.from_args([*_FLAGS, *flags], {})


def test_a_topic_is_one_table() -> None:
    settings = _choose("--raw-path", "s3://b/raw")

    assert name_table("films.Public.film-actor") == "films_public_film_actor"
    shared = _SHARED.format("a_b", "{table}", "a.b", "{table}", "a_b")
    with pytest.raises(SettingsError, match=shared):
        check_names(settings, ["a.b", "a_b"])
    with pytest.raises(SettingsError, match="found no topic of --topics or --topic-pattern"):
        check_names(settings, [])
    check_names(settings, ["a.b", "a.b_deleted"])  # files have no tables beside them


_CURRENT = ("--current-table", "lake.{table}")
_HISTORY = ("--history-table", "lake.{table}_history")
_REFINED = ("--refined-table", "lake.a_deleted", "--refined-query", "SELECT 1")


@pytest.mark.parametrize(
    ("flags", "topics", "names"),
    [
        (
            _CURRENT,
            ["a", "a_deleted"],
            ("lake.a_deleted", "--current-table", "a", "--current-table", "a_deleted"),
        ),
        (
            (*_CURRENT, *_HISTORY),
            ["a", "a_history"],
            ("lake.a_history", "--history-table", "a", "--current-table", "a_history"),
        ),
        (
            (*_CURRENT, "--history-table", "lake.{table}"),
            ["a"],
            ("lake.a", "--current-table", "a", "--history-table", "a"),
        ),
    ],
)
def test_a_table_has_one_writer(
    flags: tuple[str, ...], topics: list[str], names: tuple[str, ...]
) -> None:
    with pytest.raises(SettingsError, match=_SHARED.format(*names)):
        check_names(_choose(*flags), topics)
    check_names(_choose(*flags[:2]), ["a", "b", "a_b"])


def test_a_refined_table_is_none_of_the_others() -> None:
    shared = r"lake\.a_deleted for --current-table of a, and for --refined-table"
    with pytest.raises(SettingsError, match=shared):
        check_names(_choose(*_CURRENT, *_REFINED), ["a"])
