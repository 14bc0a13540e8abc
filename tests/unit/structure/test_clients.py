"""The examples of clients name the versions that the end-to-end tests run them with."""

from __future__ import annotations

import re
from pathlib import Path

_ROOT = Path(__file__).parents[3]
_CLIENTS = _ROOT / "examples" / "clients"
_DEPENDENCY = re.compile(r"<artifactId>([^<]+)</artifactId>\s*<version>([^<]+)</version>")


def test_the_java_client_has_the_jars_of_the_tests():
    shown, tested = (
        _read_dependencies(pom)
        for pom in (_CLIENTS / "java" / "pom.xml", _ROOT / "jars" / "glue" / "pom.xml")
    )

    assert shown == tested
    assert "schema-registry-serde" in shown


def test_the_python_client_has_the_packages_of_the_tests():
    wanted = (_CLIENTS / "python" / "requirements.txt").read_text().splitlines()
    locked = {line.removesuffix(" \\") for line in _read_lock()}

    assert len(wanted) == 3
    assert set(wanted) <= locked


def _read_dependencies(pom):
    _, _, listed = pom.read_text().partition("<dependencies>")
    return dict(_DEPENDENCY.findall(listed.partition("</dependencies>")[0]))


def _read_lock():
    return (_ROOT / "requirements.lock").read_text().splitlines()
