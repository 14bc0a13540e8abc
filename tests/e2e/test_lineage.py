"""The columns of a consumer's tables are traced to the schemas of the producer's account."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.readers import make_reader
from tests.fixtures.commands import read_json

pytestmark = [pytest.mark.terraform, pytest.mark.kafka, pytest.mark.e2e, pytest.mark.timeout(1800)]

_LAKE = "penstock_analytics_lake.readings"
_ROWS = "penstock-analytics-readings"
_ATHENA = ("StartQueryExecution", "GetQueryExecution", "GetQueryResults", "StopQueryExecution")
_CALLS = (
    *("glue:GetDatabase", "glue:GetTable", "lakeformation:GetDataAccess", "dynamodb:Scan"),
    *("s3:GetObject", "s3:PutObject", "s3:GetBucketLocation", "s3:ListBucket"),
    *("kms:Decrypt", "kms:GenerateDataKey"),
    *(f"athena:{name}" for name in _ATHENA),
)


@pytest.fixture(scope="module")
def outputs(accounts):
    """The outputs of the consumer."""
    return accounts.consumers["analytics"].outputs()


@pytest.fixture(scope="module")
def role(accounts, client):
    """A role with the rights of docs/lineage.md; without the registry's until it may assume."""
    with make_reader(accounts, client, "lineage", _CALLS) as made:
        yield made


@pytest.fixture
def trace(accounts, outputs, role, tmp_path):
    """Trace the schema `sensor` by the role, from the outputs of both roots."""
    (glue, *_) = outputs["profiles"]["analytics"]["PENSTOCK_REGISTRY"].split()  # others are far
    words = ["lineage", "sensor", "--output", "json", "--registry", glue]
    for name, root in (("p", accounts.producer), ("c", accounts.consumers["analytics"])):
        path = tmp_path / f"{name}.json"
        path.write_text(root.run("output", "-json").stdout)
        words += ["--outputs", str(path)]

    def run():
        profile = outputs["profiles"]["analytics"]
        return subprocess.run(
            [str(Path(sys.executable).with_name("penstock")), *words],
            env={"PATH": os.environ["PATH"], **profile, **role.environ},
            capture_output=True,
            text=True,
            check=False,
        )

    return run


@pytest.mark.usefixtures("stories")
def test_each_column_of_the_story_has_the_fields_of_its_versions(outputs, role, trace):
    denied = trace()

    reader = outputs["clients"]["shell"]["registry"]["role_arn"]
    role.allow("assume", ["sts:AssumeRole"], reader)
    done = trace()

    # Without the registry the tables are seen, and no column is said to have no source.
    assert denied.returncode == 0, denied.stdout + denied.stderr
    (found,) = read_json("lineage", denied.stdout)
    not_seen = {each["what"] for each in found["notSeen"]}
    assert "glue://penstock" in not_seen
    tables = {each["name"]: each for each in found["tables"]}
    assert {_LAKE, _ROWS} <= tables.keys() - not_seen
    columns = [column for name in (_LAKE, _ROWS) for column in tables[name]["columns"]]
    assert all(each["isUnknown"] or each["isOwn"] for each in columns)

    # Tables of other stories have columns without a source, which is 2; those below have none.
    assert done.returncode in {0, 2}, done.stdout + done.stderr
    (found,) = read_json("lineage", done.stdout)
    # A job of sales reads the table too, and has not made its own yet.
    assert all("://" not in each["what"] for each in found["notSeen"]), found["notSeen"]
    (topic,) = found["topics"]
    assert [each["program"] for each in topic["writers"]] == ["function producer"]
    assert [each["number"] for each in topic["versions"]][:3] == [1, 2, 3]
    uses = {each["program"]: each["tables"] for each in topic["uses"]}
    assert uses["job consume"] == [_LAKE, _ROWS]
    assert uses["function consumer"] == [_ROWS]
    assert {"analytics, functions", "analytics, jobs"} <= set(topic["mayRead"])
    tables = {each["name"]: each for each in found["tables"]}
    assert tables[_LAKE]["notes"] == []  # no other program appended to it
    for name in (_LAKE, _ROWS):
        columns = tables[name]["columns"]
        assert [each["name"] for each in columns if not (each["sources"] or each["isOwn"])] == []
        rows = {one["number"]: one for one in tables[name]["rows"] if one["schema"] == "sensor"}
        assert {1, 2, 3} <= rows.keys()
        sources = {
            each["name"]: {
                one["number"]
                for one in each["sources"]
                if one["rows"] and one["schema"] == "sensor"
            }
            for each in columns
        }
        assert 2 in sources["temperature"]
        assert not {1, 3} & sources["temperature"]
        assert 3 in sources["location"]
        assert {1, 2, 3} <= sources["deviceId"]
