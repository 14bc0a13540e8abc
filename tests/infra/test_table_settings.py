"""A plan takes the tables of a consumer whose settings functions and jobs take, and no others."""

from __future__ import annotations

import itertools
import json
import re
import shutil
import subprocess

import pytest

from penstock.errors import SettingsError
from penstock.records import RowShape
from tests.infra.plans import ROOT
from tools.hcl import read_file

pytestmark = pytest.mark.terraform

_MODULE = ROOT / "infra/modules/row-shapes"
_VALIDATION = re.compile(r"  validation \{\n    condition += (.*)\n.*\n  \}\n")
_OF_TABLES = re.compile(r"alltrue\(\[for table in values\(var\.tables\) : (.*)\]\)$")
_KEYS = (
    {},
    {"key": ["orderId"]},
    {"key": ["timestamp"]},
    {"key": ["_order"]},
    {"key": ["orderId"], "key_name": "pk"},
    {"key": ["shop", "orderId"]},
    {"key": ["shop", "orderId"], "key_name": "shop"},
    {"key": ["shop", "orderId"], "key_name": "pk"},
    {"key": ["shop", "shop"], "key_name": "pk"},
    {"key": ["shop,orderId"]},
    {"key_format": "string"},
    {"key": ["shop", "orderId"], "key_name": "pk", "key_format": "avro"},
    {"key": ["shop", "orderId"], "key_name": "pk", "key_format": "string"},
)
_SORTS = (
    {},
    {"sort": ["line"]},
    {"sort": ["line"], "sort_name": "line"},
    {"sort": ["line"], "sort_name": "none"},
    {"sort": ["line", "line"]},
    {"sort_name": "line"},
    {"sort_name": "none"},
    {"sort_name": "_topic"},
    {"sort_name": "pk"},
)
_OTHERS = (
    {},
    {"event_time": "orderId"},
    {"event_time": "none", "order": ["revision"]},
    {"order": ["at", "at"]},
    {"tombstone": "delete"},
    {"tombstone": "delete", "order": ["revision"]},
    {"deleted_when": {"field": "op", "values": ["D"]}},
    {"deleted_when": {"field": "op", "values": ["D", "D"]}},
)
_TABLES = {
    f"t{number}": mode | key | sort | other
    for number, (mode, key, sort, other) in enumerate(
        itertools.product(({}, {"mode": "upsert"}), _KEYS, _SORTS, _OTHERS)
    )
}


@pytest.fixture(scope="module")
def plans(tmp_path_factory):
    """The settings of each table, and whether a plan takes it."""
    folder = tmp_path_factory.mktemp("console") / "row-shapes"
    folder.mkdir()
    shutil.copy(_MODULE.parent / "reading.json", folder.parent)
    shutil.copy(_MODULE / "main.tf", folder)
    variables = (_MODULE / "variables.tf").read_text()
    (folder / "variables.tf").write_text(_VALIDATION.sub("", variables))
    conditions = [_OF_TABLES.match(each) for each in _VALIDATION.findall(variables)]
    rules = ", ".join(f"({each[1]})" for each in conditions if each)
    taken = f"{{ for name, table in var.tables : name => alltrue([{rules}]) }}"
    given = folder / "given.tfvars.json"
    given.write_text(json.dumps({"names": list(_TABLES), "tables": _TABLES}))
    shown = (
        "{ for name, shape in local.shapes : name => shape.settings }",
        taken,
        "{ for name, shape in local.shapes : name => shape.range_key }",
    )
    done = subprocess.run(
        ["terraform", "console", f"-var-file={given}"],
        input=f"jsonencode([{', '.join(shown)}])",
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(json.loads(done.stdout))


def test_a_plan_refuses_the_tables_whose_settings_are_refused_and_no_others(plans):
    settings, taken, _ = plans
    shapes = {name: _read_shape(each) for name, each in settings.items()}
    differ = {
        name: _TABLES[name] for name, shape in shapes.items() if taken[name] != (shape is not None)
    }

    assert differ == {}
    assert 100 < sum(taken.values()) < len(_TABLES) - 100


def test_a_table_has_the_sort_key_that_its_settings_name(plans):
    settings, taken, ranges = plans
    shapes = {name: _read_shape(settings[name]) for name in taken if taken[name]}

    assert ranges.items() >= {name: shape.sort_name for name, shape in shapes.items()}.items()


def test_every_rule_on_a_table_is_judged():
    (tables,) = (each for each in read_file(_MODULE / "variables.tf") if each.name == "tables")
    conditions = _VALIDATION.findall((_MODULE / "variables.tf").read_text())

    assert len(conditions) == tables.body.count("validation {")
    assert [each for each in conditions if not _OF_TABLES.match(each)] == [conditions[0]]


def _read_shape(settings):
    variables = {
        f"PENSTOCK_{flag.upper().replace('-', '_')}": value for flag, value in settings.items()
    }
    try:
        return RowShape.from_environ(variables)
    except SettingsError:
        return None
