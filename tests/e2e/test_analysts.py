"""The lake under Lake Formation, as its extension has set it up before the jobs made tables."""

from __future__ import annotations

import pytest
from botocore.exceptions import ClientError

from demo.lake import read_lake
from demo.screen import StepFailedError
from tests.e2e.analysts import PERSON, STRANGER, Analyst
from tests.e2e.sales import TOTALS

pytestmark = [pytest.mark.terraform, pytest.mark.kafka, pytest.mark.e2e, pytest.mark.timeout(1800)]

_ALL = "SELECT * FROM {} ORDER BY 1"


@pytest.fixture
def outputs(exercised):
    """The outputs of the consumer, with those of the extension."""
    return exercised.accounts.consumers["analytics"].outputs()


@pytest.fixture
def lake(outputs):
    """The lake of the consumer."""
    return outputs["lake"]


@pytest.fixture
def ask(exercised, outputs, lake):
    """Query a table as an analyst, in the analyst's work group."""
    person = Analyst.of_role(exercised.accounts, PERSON)

    def run(name, sql):
        made = outputs["analysts"][name]
        return read_lake(person.assume(made["role_arn"]), lake | made, sql)

    return run


def test_an_analyst_reads_the_tables_of_all_jobs(exercised, ask):
    rows = exercised.accounts.rows("analytics")
    # The row that the function made of an order is in the lake's other table.
    assert len(ask("whole", _ALL.format("readings"))) == len(rows) - 1
    assert ask("whole", _ALL.format(TOTALS)) == [
        {"country": "Peru", "sales": "4.99", "orders": "1"}
    ]
    assert len(ask("whole", _ALL.format("payments"))) == 2


def test_an_analyst_in_part_sees_the_columns_and_rows_that_were_granted(ask):
    assert ask("part", _ALL.format(TOTALS)) == [{"country": "Peru", "sales": "4.99"}]
    rows = ask("part", _ALL.format("readings"))
    assert rows
    assert all(row.keys() == {"temperature"} and float(row["temperature"]) > 0 for row in rows)
    with pytest.raises(StepFailedError, match=r"COLUMN_NOT_FOUND.*orders"):
        ask("part", f"SELECT orders FROM {TOTALS}")
    with pytest.raises(StepFailedError, match=r"Insufficient.* on payments"):
        ask("part", _ALL.format("payments"))


def test_a_stranger_with_rights_in_iam_is_refused(exercised, outputs, lake):
    stranger = Analyst.of_role(exercised.accounts, STRANGER)
    for table in ("readings", TOTALS):
        with pytest.raises(StepFailedError, match=rf"Insufficient.* on {lake['database']}"):
            read_lake(stranger, lake, _ALL.format(table))
    with pytest.raises(ClientError, match="is not authorized to perform: sts:AssumeRole"):
        stranger.assume(outputs["analysts"]["whole"]["role_arn"])
