"""The wheel in an empty virtual environment: installed, started once and used by other programs."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from localstack_client.session import Session

_PROJECT = Path(__file__).resolve().parents[1]
# From the packages that `make install` left in the cache: the tests reach no index.
_UV = [sys.executable, "-m", "uv", "--quiet", "--offline"]


def _run(words, **more):
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=300, **more)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The programs of an environment that has the wheel and what it asks for, as the lock says."""
    folder = tmp_path_factory.mktemp("wheel")
    _run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder], cwd=_PROJECT)
    (wheel,) = folder.glob("localcloud-*.whl")
    _run([*_UV, "venv", "--python", sys.executable, folder / "env"])
    programs = folder / "env/bin"
    lock = _PROJECT / "requirements.lock"
    install = [*_UV, "pip", "install", "--python", programs / "python", "--constraint", lock]
    _run([*install, wheel])
    return programs


def test_the_wheel_starts_without_the_clone(installed, tmp_path, monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    given = {"PATH": f"{installed}:{os.environ['PATH']}", "HOME": str(tmp_path)}

    def localcloud(*words):
        return _run([installed / "localcloud", *words], cwd=tmp_path, env=given)

    absent = "import importlib.util as u, sys; sys.exit(u.find_spec('penstock') is not None)"
    _run([installed / "python", "-c", absent], cwd=tmp_path)
    said = localcloud("up", "--port", str(port))
    try:
        assert f"http://127.0.0.1:{port}" in said
        assert "  missing   Kafka, for MSK clusters; Apicurio Registry" in said
        assert ": localcloud fetch\n" in said
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{port}")
        glue = Session().client("glue")
        definition = '{"type": "record", "name": "R", "fields": []}'
        made = glue.create_schema(SchemaName="r", DataFormat="AVRO", SchemaDefinition=definition)
        assert made["SchemaVersionStatus"] == "AVAILABLE"
        assert "clusters: none" in localcloud("status")
    finally:
        assert "localcloud ended" in localcloud("down")
    assert (tmp_path / ".localcloud").is_dir()
