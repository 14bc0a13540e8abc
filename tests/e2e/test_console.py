"""One event is traced through both accounts, and pages of the console show what is there.

The profiles are those of the demo: brokers, and a consumer's registries, are asked from a host.
"""

from __future__ import annotations

import html
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from configparser import RawConfigParser
from dataclasses import dataclass
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode, urlsplit
from urllib.request import HTTPCookieProcessor, OpenerDirector, build_opener

import pytest

from demo.profiles import write_demo_profiles
from penstock.extensions.console.pages import ACTIONS, PAGES
from tests.e2e.accounts import PRODUCER
from tests.e2e.readers import make_reader
from tests.fixtures.commands import read_json

pytestmark = [pytest.mark.terraform, pytest.mark.kafka, pytest.mark.e2e, pytest.mark.timeout(1800)]

_PENSTOCK = Path(sys.executable).with_name("penstock")
# What docs/operate/trace.md asks for; the record and its version are read on the host.
_TRACING = ("dynamodb:BatchGetItem", "dynamodb:Query", "glue:GetTable", "kms:Decrypt")
_READINGS, _LAKE = "penstock-analytics-readings", "penstock_analytics_lake.readings"
_ERRORS = "penstock-analytics-errors"
_FUNCTION = "analytics-penstock-analytics-consumer-sensor"
# The pages that ask brokers, tables, a bucket, jobs or access lists: with stand-ins for accounts,
# tests/browser has every page.
_BY_DAY = {
    *("", "part/status", "records", "rows", "dead-letters", "rejected", "jobs", "job", "access"),
}
_ADDED = {"name": "humidity", "type": ["null", "double"], "default": None}


@dataclass(frozen=True)
class Pages:
    """The pages of a console that runs, as a browser with its cookie reads them."""

    address: str
    browser: OpenerDirector

    def read(self, path: str, form: dict[str, str] | None = None) -> str:
        """Return a page; one that is not there raises."""
        sent = None if form is None else urlencode(form).encode()
        with self.browser.open(f"{self.address}{path}", sent, timeout=300) as answer:
            return str(answer.read().decode())


@pytest.fixture(scope="module")
def file(exercised, tmp_path_factory):
    """A `penstock.toml` as `make demo` writes it, beside a clone."""
    accounts, folder = exercised.accounts, tmp_path_factory.mktemp("console")
    (folder / ".localcloud").mkdir()
    path = folder / "penstock.toml"
    write_demo_profiles(accounts.producer, accounts.consumers["analytics"], path)
    return path


@pytest.fixture(scope="module")
def environ(file):
    """The environment of a shell in which `penstock` finds the profiles."""
    path = f"{_PENSTOCK.parent}{os.pathsep}{os.environ['PATH']}"
    return {"HOME": str(file.parent), "PATH": path, "PENSTOCK_CONFIG": str(file)}


@pytest.fixture(scope="module")
def trace(exercised, client, environ):
    """Trace events in the consumer's account by a role with no more rights than the page names."""
    with make_reader(exercised.accounts, client, "trace", (*_TRACING, "s3:GetObject")) as reader:

        def run(name: str) -> tuple[int, list[Any]]:
            words = ["--profile", "analytics", "trace", name, "--output", "json"]
            done = subprocess.run(
                [_PENSTOCK, *words],
                env=environ | reader.environ,
                capture_output=True,
                text=True,
                check=False,
            )
            (found,) = read_json("trace", done.stdout)
            return done.returncode, found["steps"]

        yield run


@pytest.fixture(scope="module")
def traced(stories, trace):
    """The event of the story that brought a new field; the exit code and the steps of its trace."""
    ((story, _), _) = stories
    event = next(each for each in story.sent if "temperature" in each.event)
    return event, *trace(event.source)


@pytest.fixture(scope="module")
def letter(exercised):
    """The id of an open dead letter of the Spark job, whose record is no frame."""
    found = exercised.tried_again.items()
    return next(
        name
        for name, row in found
        if row["stage"] == "spark" and row["reason"] == "unknown-framing"
    )


@pytest.fixture(scope="module")
def pages(exercised, client, file, environ) -> Iterator[Pages]:
    """A console over both accounts; in the consumer's somebody uses it whom the registry trusts."""
    config = RawConfigParser()
    written = file.parent / ".localcloud" / "aws-config"
    config.read(written)
    with make_reader(exercised.accounts, client, "console", ("*",)) as reader:
        config["profile localcloud-consumer"].update(reader.keys)
        with written.open("w") as out:
            config.write(out)
        with subprocess.Popen(
            [_PENSTOCK, "console", "--output=json"], env=environ, stdout=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout is not None
            address = json.loads(process.stdout.readline())["address"]
            browser = build_opener(HTTPCookieProcessor(CookieJar()))
            browser.open(address).close()
            yield Pages(address.partition("?")[0], browser)
            process.terminate()


def test_an_event_is_traced_from_its_frame_to_its_row_and_its_file(exercised, traced):
    event, code, steps = traced

    assert code == 0
    found = {each["step"]: each["fields"] for each in steps if each["state"] == "found"}
    answer, row = event.answer, exercised.accounts.rows("analytics")[event.source]
    assert found["record"].items() >= _place(answer).items()
    assert (found["frame"]["kind"], found["frame"]["schemaId"]) == ("glue", answer["schema"]["id"])
    version = {each: answer["schema"][each] for each in ("id", "name", "version")}
    assert found["schema"] == version
    key = {each: row[each] for each in ("deviceId", "readingId")}
    assert (found["row"]["table"], found["row"]["rowKey"]) == (_READINGS, key)
    (lake,) = (each for each in steps if each["step"] == "lake file")
    assert (lake["fields"]["table"], lake["fields"]["rows"]) == (_LAKE, 1)
    assert lake["fields"]["snapshot"].isdigit()
    file = urlsplit(lake["fields"]["file"])
    s3 = exercised.accounts.consumers["analytics"].client("s3")
    assert s3.head_object(Bucket=file.netloc, Key=file.path.lstrip("/"))["ContentLength"] > 0
    times = [each["at"] for each in steps if each["step"] in ("event", "record", "lake file")]
    assert times == sorted(times)


def test_a_dead_letter_is_traced_with_its_reason_and_what_retries_it(exercised, trace, letter):
    code, steps = trace(letter)

    assert code == 2
    (found,) = (
        each
        for each in steps
        if (each["fields"].get("table"), each["fields"].get("id")) == (_ERRORS, letter)
    )
    row = exercised.tried_again[letter]
    assert (found["fields"]["reason"], found["fields"]["detail"]) == (row["reason"], row["detail"])
    assert found["command"] == f"penstock --profile=analytics errors replay --id={letter}"
    assert all(each["state"] != "found" for each in steps if each["step"] in ("row", "lake file"))


@pytest.fixture(scope="module")
def wanted(exercised, traced, letter, client):
    """The texts that each page must show, by its address."""
    event, _, steps = traced
    seen = [" ".join(each["seen"].split()) for each in steps]
    pages = _list_pages(exercised, event, letter, client)
    return pages | {f"trace?profile=analytics&id={event.source}": seen}


def test_pages_show_what_is_there_in_both_accounts(pages, wanted):
    read = {path: texts for path, texts in wanted.items() if _name(path) in _BY_DAY}

    assert {_name(path) for path in _read_pages(pages, read)} == _BY_DAY


@pytest.mark.nightly
def test_every_page_shows_what_is_there_in_both_accounts(pages, wanted, client):
    found = _read_pages(pages, wanted)

    checked = _check_a_definition(pages, found["candidate"], client)
    assert _find_alerts(checked) == []
    assert "schema sensor accepted yes" in _show(checked)
    assert {_name(path) for path in found} >= {
        *(each.name for each in PAGES),
        *(f"do/{each.name}" for each in ACTIONS),
    }


def _read_pages(pages, wanted):
    """Read pages and that of a run: none fails, and none says that something was not read."""
    with ThreadPoolExecutor(max_workers=2) as pool:
        found = dict(zip(wanted, pool.map(pages.read, wanted), strict=True))
    run = html.unescape(re.findall(r'href="/(job\?[^"]+)"', found["jobs"])[-1])
    found[run] = pages.read(run)

    shown = {path: _show(page) for path, page in found.items()}
    lacking = {
        path: [text for text in texts if text not in shown[path]] for path, texts in wanted.items()
    }
    assert {path: texts for path, texts in lacking.items() if texts} == {}
    assert {path: said for path, page in found.items() if (said := _find_alerts(page))} == {}
    assert [path for path, text in shown.items() if "AccessDenied" in text] == []
    assert "consume" in shown[run]
    return found


def _name(path):
    return path.partition("?")[0]


def _list_pages(exercised, event, letter, client):
    """Return what each page must show, by its address."""
    bucket = exercised.accounts.producer.outputs()["rejected_events_bucket"]
    kept = [
        each["Key"] for each in client("s3", PRODUCER).list_objects_v2(Bucket=bucket)["Contents"]
    ]
    open_letters = [name for name, row in exercised.tried_again.items() if "doneAt" not in row]
    profile = exercised.accounts.consumers["analytics"].outputs()["profiles"]["analytics"]
    glue = profile["PENSTOCK_REGISTRY"].split()[0]  # another one is far
    row = exercised.accounts.rows("analytics")[event.source]
    schema = event.answer["schema"]
    place = "&".join(f"{each}={event.answer[each]}" for each in ("topic", "partition"))
    return {
        "": ["Producer producer", "Consumer analytics"],
        "part/status?profile=producer": [
            f"Kept events of penstock-producer: {len(kept)}",
            "Versions left of sensor:",
        ],
        "part/status?profile=analytics": [f"{_ERRORS}: {len(open_letters)}"],
        "part/doctor?profile=producer": [" ok Command"],
        "part/lag?profile=analytics": [f"{_FUNCTION}: 0 records wait in 3 partitions"],
        "topics": ["sensor 0 0 ", "sensor 2 0 "],
        f"records?profile=analytics&{place}&from={event.answer['offset']}&count=1": [
            *(event.source, f"{schema['name']} v{schema['version']}", schema["id"]),
            '"temperature": 30',
        ],
        f"trace?profile=producer&id={quote(kept[0])}": [kept[0], "rejected replay"],
        "schemas?profile=analytics": ["order sensor"],
        "versions?profile=analytics&schema=sensor": ["sensor: mode BACKWARD", schema["id"]],
        "version?schema=sensor&version=2": ["temperature"],
        "compare?schema=sensor&before=1&after=2": ["temperature", "Version 2 reads records of"],
        "lag": [f"{_FUNCTION} sensor 0 "],
        f"rows?table={_READINGS}&key={row['deviceId']}": [event.source, row["readingId"]],
        "dead-letters": [letter, "unknown-framing"],
        f"dead-letter?id={quote(letter)}": [letter, exercised.tried_again[letter]["detail"]],
        "rejected": [*kept, "SchemaConflictError", "IncompatibleSchemaError"],
        "jobs": ["consume", "review", "SUCCESS", "COMPLETED", "maintain-readings", "replay"],
        "doctor?profile=analytics": [" ok ", "penstock-analytics-consumer"],
        f"drift?schemas=sensor&lake={_LAKE}&rows={_READINGS}&registry={quote(glue)}": [
            *(_LAKE, _READINGS)
        ],
        f"quality?table={_LAKE}&since=all": ["rows holds", "required-nulls holds"],
        "lineage?what=sensor": ["job consume", "function consumer", _READINGS],
        "connectors": ["There are none."],
        "access": ["analytics_jobs_a READ TOPIC sensor", "analytics_clients_a WRITE TOPIC sensor"],
        "cost": ["MSK", "Kinesis"],
        "size": ["brokers", "kafka.m7g.large", "Spark job"],
        "reasons?reason=unknown-framing": ["unknown-framing"],
        "status": ["penstock-producer"],
        "settings?profile=analytics": ["PENSTOCK_HOST_COMMAND", _ERRORS],
        **{each: [] for each in ("candidate", "connector-settings", "connector-error", "staging")},
        **{f"do/{each.name}": [each.title] for each in ACTIONS},
    }


def _check_a_definition(pages, page, client):
    """Send the form of a page with the newest version of a schema and one more field."""
    glue, schema = client("glue", PRODUCER), {"RegistryName": "penstock", "SchemaName": "sensor"}
    newest = glue.get_schema_version(SchemaId=schema, SchemaVersionNumber={"LatestVersion": True})
    definition = json.loads(newest["SchemaDefinition"])
    form = re.search(r'name="form" value="([^"]+)"', page)
    text = json.dumps(definition | {"fields": [*definition["fields"], _ADDED]})
    sent = {"form": form[1], "schema": "sensor", "text": text}
    return pages.read("candidate", sent)


def _show(page):
    """Return the text of a page, with one space between its words."""
    main = page.partition('<main id="main">')[2] or page
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", main)).split())


def _find_alerts(page):
    """Return the errors that a page shows."""
    return re.findall(r'role="alert">(.*?)</', page, re.DOTALL)


def _place(answer):
    return {each: answer[each] for each in ("topic", "partition", "offset")}
