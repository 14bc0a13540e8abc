"""A producer function starts with the settings that Terraform gives it, and judges by them."""

from __future__ import annotations

import json
import shutil
import subprocess

import pytest

from penstock.errors import EventValueError
from penstock.producing import ProducerSettings
from penstock.records import Mode, check_key, write_key
from tests.infra.plans import ROOT
from tools.hcl import read_file

pytestmark = pytest.mark.terraform

_PRODUCER = ROOT / "infra/producer"
_CASE = ROOT / "tests/infra/producer/full.tfvars"
# The other locals are about other things.
_LOCALS = ("_budgets", "is_function", "producers", "registry_url", "serverless_properties")
_OTHERS = "  _registries = {}\n  consumers = {}\n  sales_commands = {}\n"
_NO_JOBS = ("-var=jobs={}", "-var=spark={}")
# What the root adds once the brokers are there.
_MADE = {
    "KAFKA_BOOTSTRAP_SERVERS": "b-1:9098",
    "KAFKA_SECURITY": "iam",
    "AWS_REGION": "eu-central-1",
    "PENSTOCK_REGISTRY": "memory://",
}
_ORDER = {"site": "a", "item": "b", "currency": "EUR", "day": "1", "revision": 2, "at": 3}


@pytest.fixture(scope="module")
def settings(tmp_path_factory):
    """The settings of each function, by name; a plan hides them behind the brokers' names."""
    folder = tmp_path_factory.mktemp("console")
    shutil.copy(_PRODUCER / "variables.tf", folder)
    (found,) = (each for each in read_file(_PRODUCER / "locals.tf") if each.kind == "locals")
    given = "".join(f"  {name} = {found.arguments[name]}\n" for name in _LOCALS)
    (folder / "locals.tf").write_text(f"locals {{\n{_OTHERS}{given}}}\n")
    environments = "{ for name, each in local.producers : name => each.environment }"
    done = subprocess.run(
        ["terraform", "console", f"-var-file={_CASE}", *_NO_JOBS],
        input=f"jsonencode({environments})",
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    return {
        name: ProducerSettings.from_environ(environment | _MADE)
        for name, environment in json.loads(json.loads(done.stdout)).items()
    }


def test_each_function_has_settings_that_are_valid(settings):
    shapes = {name: each.shape for name, each in settings.items()}

    assert shapes.keys() == {"invoices", "meters", "orders", "producer"}
    assert (shapes["producer"].key, shapes["producer"].mode) == (("deviceId",), Mode.APPEND)
    assert shapes["meters"].key == ("site", "meter")
    given = settings["meters"]
    assert (given.numbers, given.times, given.policy) == ("decimal", "timestamp-micros", "exact")
    given = settings["producer"]
    assert (given.numbers, given.times, given.policy) == ("double", "text", "grow")
    assert (shapes["orders"].mode, shapes["orders"].order) == (Mode.UPSERT, ("revision", "at"))
    assert shapes["orders"].sort == ("currency", "day")
    assert (shapes["invoices"].mode, shapes["invoices"].sort_name) == (Mode.UPSERT, None)


def test_an_event_with_all_fields_of_its_row_has_a_key_of_several(settings):
    check_key(settings["orders"].shape, _ORDER)
    assert write_key(settings["orders"].shape, _ORDER) == b"a/b"


@pytest.mark.parametrize("missing", _ORDER)
def test_an_event_that_lacks_a_field_of_its_row_is_rejected(settings, missing):
    event = {name: value for name, value in _ORDER.items() if name != missing}

    with pytest.raises(EventValueError, match=f"^{missing}: found"):
        check_key(settings["orders"].shape, event)
