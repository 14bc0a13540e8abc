"""The table of releases knows every default, and the jars fit the releases that are chosen."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from localcloud.services.emr.releases import network_rules
from localcloud.services.kafka.versions import VERSIONS
from tools.aws_check.spark import RELEASE
from tools.lambda_packages import PYTHONS

_ROOT = Path(__file__).parents[3]
_RELEASES = json.loads((_ROOT / "infra/modules/releases.json").read_text())
_JARS = _RELEASES["jars"]
_KAFKA, _PYTHON = "3.9.x.kraft", "3.13"  # the defaults of the roots
_CASES = sorted((_ROOT / "tests/infra").glob("*/*.tfvars"))
_TERRAFORM = "".join(path.read_text() for path in sorted((_ROOT / "infra").rglob("*.tf")))


def _fits(label: str) -> bool:
    release = _RELEASES["emr"][label]
    return (
        f"{release['spark']}.".startswith(f"{_JARS['spark']}.")
        and release["scala"].startswith(f"{_JARS['scala']}.")
        and _JARS["java"] in release["java"]
    )


def _defaults(name: str) -> set[str]:
    """The defaults of an input in all modules and roots."""
    return set(re.findall(rf'\b{name} += optional\(string, "([^"]+)"\)', _TERRAFORM))


def _planned(name: str, *, refused: bool) -> set[str]:
    """The values of an input in the plan cases that succeed, or in those that are refused."""
    return {
        value
        for case in _CASES
        if case.with_suffix(".yaml").read_text().startswith("errors:") is refused
        for value in re.findall(rf'\b{name} += "([^"]+)"', case.read_text())
    }


def test_every_default_release_of_emr_is_in_the_table_and_fits_the_jars() -> None:
    defaults = {*_defaults("release_label"), RELEASE}

    assert defaults
    assert defaults - _RELEASES["emr"].keys() == set()
    assert [label for label in sorted(defaults) if not _fits(label)] == []


@pytest.mark.parametrize("label", ["emr-7.14.0", "emr-spark-8.0.0"])
def test_a_release_with_another_spark_does_not_fit(label: str) -> None:
    assert not _fits(label)


def test_every_default_of_msk_and_lambda_is_in_the_table() -> None:
    kafkas = set(re.findall(r'kafka_version, "([^"]+)"\)', _TERRAFORM))
    makefile = re.findall(
        r"--python \$\(or \$\(PYTHON\),([0-9.]+)\)", (_ROOT / "Makefile").read_text()
    )

    assert _defaults("python_version") == {*makefile} == {_PYTHON}
    assert _PYTHON in _RELEASES["lambda"]
    assert kafkas - {"none"} == {_KAFKA}
    assert _KAFKA in _RELEASES["msk"]


def test_a_plan_case_takes_each_release_that_fits_and_refuses_each_other() -> None:
    fitting = {label for label in _RELEASES["emr"] if _fits(label)}
    taken, refused = (_planned("release_label", refused=value) for value in (False, True))

    assert taken == fitting
    assert refused >= _RELEASES["emr"].keys() - fitting
    assert refused - _RELEASES["emr"].keys()  # one that nobody knows


@pytest.mark.parametrize(
    ("service", "name", "default"),
    [("msk", "kafka_version", _KAFKA), ("lambda", "python_version", _PYTHON)],
)
def test_a_plan_case_takes_each_version_and_refuses_another(
    service: str, name: str, default: str
) -> None:
    versions = set(_RELEASES[service])

    assert _planned(name, refused=False) | {default} == versions  # the smallest cases have defaults
    assert _planned(name, refused=True) - versions


def test_the_table_has_all_that_is_asked_of_a_release() -> None:
    asked = {"iceberg", "java", "network", "python", "scala", "source", "spark"}

    assert {
        label for label, release in _RELEASES["emr"].items() if release.keys() != asked
    } == set()


def test_the_table_is_that_of_the_tools_and_of_localcloud() -> None:
    assert tuple(_RELEASES["lambda"]) == PYTHONS
    assert set(_RELEASES["msk"]) <= set(VERSIONS)
    found = {label: network_rules(label) for label in _RELEASES["emr"]}
    assert found == {label: release["network"] for label, release in _RELEASES["emr"].items()}


def test_the_table_is_that_of_the_jars_and_of_pyspark() -> None:
    pom = (_ROOT / "jars/spark/pom.xml").read_text()
    spark = re.findall(r"<artifactId>spark-(?:sql-kafka-0-10|avro)_([0-9.]+)</artifactId>", pom)
    pyspark = re.search(r'"pyspark==([0-9.]+)"', (_ROOT / "pyproject.toml").read_text())
    iceberg = re.findall(r"<artifactId>iceberg-[^<]+</artifactId>\s+<version>([^<]+)<", pom)
    decoder = (_ROOT / "tools/build_decoder.py").read_text()

    assert set(spark) == {_JARS["scala"]}
    assert set(iceberg) == {
        each["iceberg"] for label, each in _RELEASES["emr"].items() if _fits(label)
    }
    assert f"iceberg-spark-runtime-{_JARS['spark']}_{_JARS['scala']}" in pom
    assert pyspark is not None
    assert pyspark[1].startswith(f"{_JARS['spark']}.")
    assert f'"{_JARS["java"]}"' in decoder
