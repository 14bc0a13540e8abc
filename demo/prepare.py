"""Prepare both demos: the zips, localcloud, and both accounts applied."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from demo.accounts import MACHINE, REGION, ROOT, SPARK, Account, Local, add_topics, make_jobs
from demo.profiles import SHELL, write_demo_profiles
from demo.screen import StepFailedError, Steps
from demo.staging.publisher import TABLES
from demo.story import CONSUMER_NAME
from localcloud.command.instance import find_instance

STAGING_JOB = "shop"
ZIPS = ROOT / "build" / "host"
_LOCAL = Local(ROOT / ".localcloud")
_FOLDER = _LOCAL.folder / "terraform"
_CONSUMER = "222222222222"
_LAST_LINES = 12


def prepare(steps: Steps, *, staging: bool) -> tuple[Account, Account]:
    """Bring up localcloud and both accounts; what is there of the staging job stays.

    Raises:
        StepFailedError: with what failed.
    """
    consumer = _consumer()
    staging = staging or _has_staging(consumer)
    producer = prepare_producer(steps, staging=staging)
    with steps.step(f"{consumer.where}: contract, terraform apply"):
        _apply_consumer(producer, consumer, staging=staging)
    write_demo_profiles(producer, consumer)
    return producer, consumer


def prepare_producer(steps: Steps, *, staging: bool = False) -> Account:
    """Bring up localcloud and the producer's account; what is there of the staging job stays.

    Raises:
        StepFailedError: with what failed.
    """
    producer = Account("producer", "111111111111", _LOCAL, _FOLDER)
    with steps.step("build the zips"):
        words = ["--python", "host", "--arch", "host", "--into", str(ZIPS)]
        _call("the zips cannot be built", Path("tools/build_zip.py"), *words)
    with steps.step("start both accounts"):
        start_localcloud()
    with steps.step(f"{producer.where}: terraform apply"):
        _apply_producer(producer, staging=staging or _has_staging(_consumer()))
    return producer


def start_localcloud() -> None:
    """Start localcloud, unless it runs.

    Raises:
        StepFailedError: it does not start.
    """
    if find_instance(_LOCAL.folder) is None:
        _call("localcloud does not start", "-m", "localcloud", "up")


def _consumer() -> Account:
    return Account("consumer", _CONSUMER, _LOCAL, _FOLDER)


def _has_staging(consumer: Account) -> bool:
    return STAGING_JOB in consumer.variables.get("jobs", {})


def _apply_producer(producer: Account, *, staging: bool) -> None:
    """Apply the producer; consumers and topics that other stories added stay."""
    topics = ["sensor", *(_topics() if staging else ())]
    known, sources = producer.variables, _sources() if staging else {}
    consumer = {"name": CONSUMER_NAME, "account_id": _CONSUMER, "topics": topics}
    others = [it for it in known.get("consumers", []) if it["name"] != CONSUMER_NAME]
    producer.prepare(
        ZIPS,
        region=REGION,
        clients={SHELL: {"access_lists": "change", "host": {}, "reads": topics, "writes": topics}},
        consumers=[consumer, *others],
        cluster={"broker_count": 2},
        **sources | {"topics": add_topics(known, ()) | sources.get("topics", {})},
    )
    producer.apply()


def _apply_consumer(producer: Account, consumer: Account, *, staging: bool) -> None:
    consumer.prepare(
        ZIPS,
        clients={SHELL: {"host": {}}},
        deploy_role_arn=f"arn:aws:iam::{consumer.id}:role/deploy",
        consumer_functions={"consumer": {"topics": ["sensor"]}},
        jobs=_jobs() if staging else make_jobs(),
        spark=SPARK,
    )
    consumer.take_contract(producer, CONSUMER_NAME)
    consumer.apply()


def function_of(table: str) -> str:
    """Return the name of the producer function that writes a staged table's topic."""
    return table.replace("_", "-")


def _topics() -> list[str]:
    return [topic for table in TABLES for topic in table["topics"]]


def _sources() -> dict[str, Any]:
    """Return the inputs of the producer's root for a function and a topic of each table."""
    keys = {table["topics"][0]: table["key"] for table in TABLES}
    producers = {
        function_of(topic): {
            "topic": topic,
            "event_time": "none",
            "key": [key if isinstance(key, str) else key[0]],  # that of the record
        }
        for topic, key in keys.items()
    }
    one = {"partitions": 1}
    return {
        "producers": {"producer": {"topic": "sensor", "policy": "exact"}, **producers},
        "topics": {"sensor": {}, **dict.fromkeys(keys, one)},
    }


def _jobs() -> dict[str, Any]:
    """Return both jobs; the plan of the staging job is written beside Terraform's folders."""
    plan = _FOLDER / f"{STAGING_JOB}.json"
    plan.write_text(json.dumps({"starting": "earliest", "tables": TABLES}, indent=2))
    # A demo does not wait five minutes: it fires the schedule itself.
    staging = {"plan": str(plan), "retry_seconds": 1, "schedule": "rate(1 day)"}
    made = make_jobs()
    made["consume"]["reads"] = ["sensor"]
    return made | {STAGING_JOB: {"trigger": "available-now", "staging": staging}}


def _call(why: str, *words: str | Path) -> None:
    done = subprocess.run(
        [sys.executable, *words], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise StepFailedError(MACHINE, why, (done.stdout + done.stderr).splitlines()[-_LAST_LINES:])
