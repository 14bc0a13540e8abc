"""Records that were given up come into their tables once the operator has mended the cause."""

from __future__ import annotations

import json
import shlex
from itertools import pairwise

import pytest

from demo.lake import read_lake, source_of
from demo.rows import read_rows

pytestmark = [pytest.mark.terraform, pytest.mark.kafka, pytest.mark.e2e, pytest.mark.timeout(1800)]

_LAKE = "penstock_analytics_lake"
_SELECT = "SELECT _topic, _kafka_partition, _offset, deviceId AS device, temperature FROM orders"


@pytest.fixture
def consumer(exercised):
    """The consumer's account, with routes."""
    return exercised.accounts.consumers["analytics"]


@pytest.fixture
def words(consumer):
    """By run that is no step of the cluster, what the job is told, by flag."""

    def read(command):
        given = shlex.split(command)
        driver = json.loads(given[given.index("--job-driver") + 1])["sparkSubmit"]
        job, told = driver["entryPoint"].rpartition("/")[2], driver["entryPointArguments"]
        pairs = pairwise([*told, "--"])
        return job, {
            flag: "" if word.startswith("--") else word
            for flag, word in pairs
            if flag.startswith("--")
        }

    outputs = consumer.outputs()
    commands, steps = outputs["submit_commands"], outputs["emr_cluster"]["submit_commands"]
    return {run: read(command) for run, command in commands.items() if run not in steps}


def test_a_record_comes_into_the_tables_of_its_route(exercised, consumer):
    (row,) = (row for row in exercised.given_up.values() if row["reason"] == "schema-conflict")
    assert "doneAt" not in row
    assert "doneAt" in exercised.tried_again[row["id"]]
    source = row["id"].rsplit("/", 2)[0]  # what follows is Kafka's time, and the stage
    stored = read_rows(consumer, "penstock-analytics-orders")
    assert {key: (one["orderId"], one["temperature"]) for key, one in stored.items()} == {
        source: ("o-1", "cool")
    }
    (kept,) = read_lake(consumer, consumer.outputs()["lake"], _SELECT)
    assert (source_of(kept), kept["device"], kept["temperature"]) == (source, "shop", "cool")


def test_a_dead_letter_that_cannot_be_decoded_fails_again(exercised):
    junk = [row for row in exercised.given_up.values() if row["reason"] == "unknown-framing"]
    # Two records, which the function and the job gave up.
    assert sorted(row["stage"] for row in junk) == ["lambda", "lambda", "spark", "spark"]
    for row in junk:
        again = exercised.tried_again[row["id"]]
        assert again["attempts"] == row["attempts"] + 1
        assert (again["reason"], "doneAt" in again) == ("unknown-framing", False)
    assert exercised.tried_again.keys() == exercised.given_up.keys()


def test_athena_has_the_dead_letters(exercised, consumer):
    asked = "SELECT DISTINCT id, reason FROM dead_letters"
    found = {
        (row["id"], row["reason"]) for row in read_lake(consumer, consumer.outputs()["lake"], asked)
    }
    assert {(row["id"], row["reason"]) for row in exercised.given_up.values()} <= found


def test_a_batch_has_a_task_for_each_core_that_a_job_may_have(consumer):
    outputs = consumer.outputs()
    given = shlex.split(outputs["submit_commands"]["consume"])
    overrides = json.loads(given[given.index("--configuration-overrides") + 1])
    (settings,) = (each["properties"] for each in overrides["applicationConfiguration"])
    most, cores = settings["spark.dynamicAllocation.maxExecutors"], settings["spark.executor.cores"]
    assert settings["spark.default.parallelism"] == str(int(most) * int(cores))
    for command in outputs["emr_cluster"]["submit_commands"].values():
        (step,) = json.loads(shlex.split(command)[-1])
        assert "spark.default.parallelism=8" in step["Args"]  # four for each of two nodes


def test_all_jobs_have_the_same_tables(words):
    assert {run: job for run, (job, _) in words.items()} == {
        "consume": "consume.py",
        "maintain-orders": "maintain_lake.py",
        "maintain-readings": "maintain_lake.py",
        "replay": "replay.py",
        "review": "stage.py",
    }
    _, consume = words["consume"]
    _, replay = words["replay"]
    assert consume["--lake-table"] == f"{_LAKE}.{{table}}"
    assert consume["--dynamodb-table"] == "penstock-analytics-{table}"
    assert consume["--route"] == "order=orders,sensor=readings"
    assert consume["--shapes"] == "orders.key=orderId"
    both = {flag: word for flag, word in consume.items() if replay.get(flag) == word}
    assert consume.keys() - both.keys() == {
        *("--checkpoint", "--secret-arn", "--service", "--topics", "--trigger"),
    }
    assert replay["--consume-checkpoint"] == consume["--checkpoint"]
    for table in ("orders", "readings"):
        maintained = {"--lake-table": f"{_LAKE}.{table}", "--if-there": ""}
        assert words[f"maintain-{table}"][1] == maintained
