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


def test_every_default_release_of_emr_fits_the_jars() -> None:
    defaults = {*_defaults("release_label"), RELEASE}

    assert defaults
    assert [label for label in sorted(defaults) if not _fits(label)] == []


@pytest.mark.parametrize("label", ["emr-7.14.0", "emr-spark-8.0.0"])
def test_a_release_with_another_spark_does_not_fit(label: str) -> None:
    assert not _fits(label)


def test_every_default_of_msk_and_lambda_is_in_the_table() -> None:
    pythons = _defaults("python_version")
    kafkas = set(re.findall(r'kafka_version, "([^"]+)"\)', _TERRAFORM))

    assert pythons
    assert pythons <= set(_RELEASES["lambda"])
    assert kafkas
    assert kafkas - {"none"} <= set(_RELEASES["msk"])


def test_the_table_is_that_of_the_tools_and_of_localcloud() -> None:
    assert tuple(_RELEASES["lambda"]) == PYTHONS
    assert set(_RELEASES["msk"]) <= set(VERSIONS)
    found = {label: network_rules(label) for label in _RELEASES["emr"]}
    assert found == {label: release["network"] for label, release in _RELEASES["emr"].items()}


def test_the_table_is_that_of_the_jars_and_of_pyspark() -> None:
    pom = (_ROOT / "jars/spark/pom.xml").read_text()
    spark = re.findall(r"<artifactId>spark-(?:sql-kafka-0-10|avro)_([0-9.]+)</artifactId>", pom)
    pyspark = re.search(r'"pyspark==([0-9.]+)"', (_ROOT / "pyproject.toml").read_text())
    decoder = (_ROOT / "tools/build_decoder.py").read_text()

    assert set(spark) == {_JARS["scala"]}
    assert f"iceberg-spark-runtime-{_JARS['spark']}_{_JARS['scala']}" in pom
    assert pyspark is not None
    assert pyspark[1].startswith(f"{_JARS['spark']}.")
    assert f'"{_JARS["java"]}"' in decoder
