"""The console over a real broker and Glue, and a browser in front of it."""

from __future__ import annotations

import json
import os
import secrets
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from localcloud.cloud import Cloud
from localcloud.network import names
from penstock.cli import write_profiles
from penstock.consuming import Consumer
from penstock.kafka import Security, Topic, ensure_topic
from penstock.operations import read_raw_records
from penstock.records import FUNCTION, READING
from penstock.registry import load_registries
from penstock.sinks import DynamoDbClient, ErrorTable, ObjectStore, open_table
from systems.clusters import ANONYMOUS, PRODUCER, REGION, Brokers, logged_in, running_brokers
from tests.browser.calls import RECORDER, Calls
from tests.fixtures.accounts import ActAs
from tests.fixtures.backups import ACCOUNT
from tests.fixtures.browser import find_chromium
from tests.fixtures.readings import make_reading_table
from tests.fixtures.root_outputs import make_consumer, make_producer, write_outputs

# It passes the end of stdin on, and notices only with the next output that nobody reads that.
_LIKE_SSH = ("bash", "-o", "pipefail", "-c", 'cat | sh -c "$0" | cat')
_PATIENCE_MS = 180_000  # with a busy machine; what is waited for is a state


@dataclass(frozen=True)
class Served:
    """A console that runs: its address with the token, and the topic of its producer."""

    address: str
    topic: str
    audit: Path
    process: subprocess.Popen[str]


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    with sync_playwright() as driver:
        # A container has no user namespaces, and these pages are our own.
        launched = driver.chromium.launch(
            executable_path=find_chromium(), args=["--no-sandbox"], timeout=120_000
        )
        yield launched
        launched.close()


@pytest.fixture(scope="session")
def brokers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Brokers]:
    with running_brokers(tmp_path_factory.mktemp("broker"), broker_count=1) as running:
        yield running


@pytest.fixture(scope="session")
def topic(brokers: Brokers, client: Callable[..., Any]) -> str:
    """A topic and a registry that nobody else has."""
    name = f"sensor-{secrets.token_hex(4)}"
    with logged_in(brokers, PRODUCER):
        ensure_topic(brokers.settings(Security.IAM), Topic(name, partitions=1))
    brokers.allow(ANONYMOUS, name, "READ", "WRITE")
    client("glue").create_registry(RegistryName=name)
    return name


@pytest.fixture(scope="session")
def table(cloud: Cloud, topic: str) -> str:
    """A table of readings for the records of the topic."""
    session = boto3.Session(ACCOUNT, "localcloud", region_name=REGION)
    dynamodb = session.resource("dynamodb", endpoint_url=cloud.endpoint)
    return make_reading_table(dynamodb, f"{topic}-readings").name


@pytest.fixture
def consume(brokers: Brokers, topic: str, table: str, act_as: ActAs) -> Callable[[], Any]:
    """Write a row of each record, as the consumer function does."""
    act_as(ACCOUNT)

    def consume_all() -> Any:
        registries = load_registries(f"glue://{topic}?region={REGION}")
        rows = open_table(DynamoDbClient(), table, READING)
        errors = ErrorTable(DynamoDbClient(), "errors", ObjectStore("none"))
        records = read_raw_records(brokers.settings(Security.PLAINTEXT), topic)
        return Consumer(registries, rows, errors, FUNCTION).consume(records)

    return consume_all


@pytest.fixture(scope="session")
def folder(
    client: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory, topic: str, table: str
) -> Path:
    """A folder with the roots of both accounts, and a `terraform` that prints their outputs."""
    folder: Path = tmp_path_factory.mktemp("console")
    application = client("emr-serverless", account=ACCOUNT).create_application(
        name="penstock", releaseLabel="emr-spark-8.1.0", type="Spark"
    )["applicationId"]
    submit = f"aws emr-serverless start-job-run --region {REGION} --application-id {application}"
    consumer = make_consumer() | {"submit_commands": {"consume": submit}}
    function = {"name": "f", "table": table, "mappings": {topic: "m"}, "shape": {}}
    consumer["functions"]["consumer"] = function
    for name, outputs in {"producer": make_producer(), "consumer": consumer}.items():
        root = folder / name
        root.mkdir()
        write_outputs(root / "outputs.json", outputs)
    program = folder / "bin" / "terraform"
    program.parent.mkdir()
    program.write_text('#!/bin/sh\ncat "${1#-chdir=}/outputs.json"\n')
    program.chmod(0o755)
    return folder


@pytest.fixture(scope="session")
def calls(cloud: Cloud, folder: Path) -> Calls:
    return Calls(cloud.folder / "calls.jsonl", folder / "kafka-calls")


@pytest.fixture(scope="session")
def serve(
    brokers: Brokers, cloud: Cloud, topic: str, folder: Path, calls: Calls
) -> Callable[..., Any]:
    """Start a console in a process of its own, with words after the command."""
    servers = brokers.cluster.bootstrap_servers("PLAINTEXT")
    hosts = folder / "hosts"
    names.write_hosts(hosts, brokers.cluster.names)
    hook = Path(names.__file__).with_name("python_path")
    in_vpc = {
        "KAFKA_CALLS": str(calls.kafka),
        "PYTHONPATH": f"{hook}{os.pathsep}{RECORDER}",
        names.HOSTS_VARIABLE: str(hosts),
    }
    common = {
        "AWS_REGION": REGION,
        "KAFKA_BOOTSTRAP_SERVERS": servers,
        "KAFKA_SECURITY": "plaintext",
        # In place of `ssh HOST`: the names of brokers are known in the VPC only.
        "PENSTOCK_HOST_COMMAND": shlex.join(
            ["env", *(f"{name}={value}" for name, value in in_vpc.items()), *_LIKE_SSH]
        ),
        "PENSTOCK_REGISTRY": f"glue://{topic}?region={REGION}",
    }
    profiles = {
        "meters": common
        | {
            "PENSTOCK_POLICY": "exact",
            "PENSTOCK_PRODUCER_ROOT": "producer",
            "PENSTOCK_REJECTED_BUCKET": f"rejected-{topic}",
            "PENSTOCK_TOPIC": topic,
        },
        "analytics": common
        | {
            "PENSTOCK_CONSUMER_ROOT": "consumer",
            "PENSTOCK_ERRORS_TABLE": "errors",
            "PENSTOCK_STATUS_TABLES": "errors",
            "PENSTOCK_WORKGROUP": "lake",
        },
    }
    config = folder / "penstock.toml"
    write_profiles(config, profiles)
    environ = {
        "AWS_ACCESS_KEY_ID": ACCOUNT,
        "AWS_ENDPOINT_URL": cloud.endpoint,
        "AWS_SECRET_ACCESS_KEY": "localcloud",
        "HOME": str(folder),
        "PATH": f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "PENSTOCK_CONFIG": str(config),
    }

    @contextmanager
    def serve_it(*words: str) -> Iterator[Served]:
        audit = folder / f"{secrets.token_hex(4)}.jsonl"
        command = [sys.executable, "-m", "penstock.cli", "console", "--output=json", *words]
        with subprocess.Popen(
            [*command, f"--audit={audit}"], env=environ, stdout=subprocess.PIPE, text=True
        ) as process:
            try:
                assert process.stdout is not None
                address = json.loads(process.stdout.readline())["address"]
                yield Served(address, topic, audit, process)
            finally:
                process.terminate()

    return serve_it


@pytest.fixture
def open_page(chromium: Browser) -> Iterator[Callable[..., Page]]:
    """Open pages that fail the test if their console has an error."""
    contexts: list[BrowserContext] = []
    said: list[str] = []

    def open_it(**options: Any) -> Page:
        context = chromium.new_context(**options)
        context.set_default_timeout(_PATIENCE_MS)
        expect.set_options(timeout=_PATIENCE_MS)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda each: said.append(each.text) if each.type == "error" else None)
        page.on("pageerror", lambda each: said.append(str(each)))
        return page

    yield open_it
    for context in contexts:
        context.close()
    assert said == []
