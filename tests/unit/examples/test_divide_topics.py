"""Topics are divided among jobs: each is in one, and keeps it."""

from __future__ import annotations

import json
import sys
from io import StringIO
from pathlib import Path

import pytest

from examples.divide_topics import divide, main

_PLANNED = Path(__file__).parents[2] / "data/divided.json"


def _names(count: int) -> dict[str, str]:
    return {f"plant-{number:03d}": f"Plant.{number:03d}" for number in range(count)}


def test_a_thousand_topics_are_twenty_jobs_of_fifty():
    topics = _names(1_000)

    jobs = divide(topics, {})

    assert [len(job["reads"]) for job in jobs.values()] == [50] * 20
    assert sorted(topic for job in jobs.values() for topic in job["reads"]) == sorted(topics)
    written = {schema: table for job in jobs.values() for schema, table in job["writes"].items()}
    assert written == {f"Plant.{number:03d}": f"plant_{number:03d}" for number in range(1_000)}


def test_topics_that_come_and_go_move_no_other():
    first = divide(_names(120), {})
    first["part-02"]["workers"] = {"consume": {"max_executors": 2}}
    left = {name: schema for name, schema in _names(130).items() if name != "plant-007"}

    jobs = divide(left | {"a-new-one": "A.New.One"}, first)

    before = {topic: name for name, job in first.items() for topic in job["reads"]}
    after = {topic: name for name, job in jobs.items() for topic in job["reads"]}
    assert before.items() - after.items() == {("plant-007", "part-01")}
    assert after["a-new-one"] == "part-03"
    assert jobs["part-01"]["writes"]["Plant.007"] == "plant_007", "its table stays"
    assert jobs["part-02"]["workers"] == {"consume": {"max_executors": 2}}


def test_a_name_that_is_taken_is_not_that_of_another_job():
    jobs = divide(_names(3), {"part-02": {"reads": ["plant-000"], "writes": {"x": "x"}}}, most=1)

    assert {name: job["reads"] for name, job in jobs.items()} == {
        "part-02": ["plant-000"], "part-01": ["plant-001"], "part-03": ["plant-002"],
    }  # fmt: skip


def test_two_schemas_of_one_table_are_refused():
    with pytest.raises(SystemExit, match=r"^found more than one schema or job for a_b, expected"):
        divide({"one": "a.b", "two": "A-B"}, {})


def test_other_variables_of_the_file_stay(tmp_path, monkeypatch):
    file = tmp_path / "jobs.auto.tfvars.json"
    file.write_text('{"region": "eu-central-1"}')
    monkeypatch.setattr(sys, "stdin", StringIO("plant"))
    monkeypatch.setattr(sys, "argv", ["divide_topics.py", str(file)])

    main()

    jobs = {"part-01": {"reads": ["plant"], "writes": {"plant": "plant"}}}
    assert json.loads(file.read_text()) == {"region": "eu-central-1", "jobs": jobs}


def test_the_jobs_that_are_planned_are_those_that_it_writes(tmp_path, monkeypatch):
    file = tmp_path / "jobs.auto.tfvars.json"
    names = "".join(f"plant-{number:02d}\n" for number in range(40))

    for given in (names, f"\n{names}"):
        monkeypatch.setattr(sys, "stdin", StringIO(given))
        monkeypatch.setattr(sys, "argv", ["divide_topics.py", str(file), "--most", "2"])
        main()

        assert json.loads(file.read_text()) == json.loads(_PLANNED.read_text())
