"""Jars are fetched from Maven's folder or from a server, and are those of the lock file."""

from __future__ import annotations

import hashlib
import io
import tarfile
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from localcloud import jars
from localcloud.command import fetch
from localcloud.errors import DownloadError, LocalcloudError
from localcloud.jars import Jar, fetch_jar, read_lock

_BYTES = b"a jar" * 100_000
_PATH = "org/x/x-1.jar"


class _Handler(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Print nothing."""


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Serve a folder as a Maven repository, to a home without a folder of Maven's."""
    folder = tmp_path / "server"
    (folder / _PATH).parent.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setattr(jars, "JARS", tmp_path / "jars")
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, directory=str(folder))) as server:
        monkeypatch.setenv("LOCALCLOUD_MAVEN", f"http://127.0.0.1:{server.server_port}/")
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield folder
        server.shutdown()
        thread.join()


def _jar(data: bytes, path: str = _PATH, holds: str = "") -> Jar:
    return Jar("broker", path, len(data), hashlib.sha256(data).hexdigest(), holds)


def test_a_jar_is_fetched_once_with_its_progress(server: Path, tmp_path: Path) -> None:
    (server / _PATH).write_bytes(_BYTES)
    jar, parts = _jar(_BYTES), list[int]()
    assert jar.is_missing

    fetch_jar(jar, parts.append)

    assert (tmp_path / "jars/broker/x-1.jar").read_bytes() == _BYTES
    assert sum(parts) == len(_BYTES)
    assert len(parts) > 1
    assert not jar.is_missing
    assert [each.name for each in jar.folder.iterdir()] == ["x-1.jar"]


def test_an_archive_is_unpacked(server: Path, tmp_path: Path) -> None:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        member = tarfile.TarInfo("runner.jar")
        member.size = 3
        archive.addfile(member, io.BytesIO(b"run"))
    (server / "org/x/app.tar.gz").write_bytes(packed.getvalue())
    jar = _jar(packed.getvalue(), "org/x/app.tar.gz", "runner.jar")

    fetch_jar(jar, lambda _: None)

    assert (tmp_path / "jars/broker/runner.jar").read_bytes() == b"run"
    assert not jar.is_missing


def test_the_file_of_maven_is_copied(server: Path, tmp_path: Path) -> None:
    kept = tmp_path / "home/.m2/repository" / _PATH
    kept.parent.mkdir(parents=True)
    kept.write_bytes(_BYTES)

    fetch_jar(_jar(_BYTES), lambda _: None)

    assert (tmp_path / "jars/broker/x-1.jar").read_bytes() == _BYTES


def test_another_file_than_that_of_the_lock_is_refused(server: Path) -> None:
    (server / _PATH).write_bytes(b"b" + _BYTES[1:])
    jar = _jar(_BYTES)

    with pytest.raises(DownloadError, match=rf"{_PATH} has the SHA-256 \w+, expected {jar.sha256}"):
        fetch_jar(jar, lambda _: None)

    assert jar.is_missing
    assert list(jar.folder.iterdir()) == []


def test_a_file_that_is_not_there_is_named(server: Path) -> None:
    with pytest.raises(DownloadError, match=rf"{_PATH} cannot be fetched: HTTP Error 404"):
        fetch_jar(_jar(_BYTES), lambda _: None)


def test_a_file_without_a_repository_says_what_to_set(
    server: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LOCALCLOUD_MAVEN")

    with pytest.raises(DownloadError, match=rf"found no {_PATH} in .*; set it to that of Maven Ce"):
        fetch_jar(_jar(_BYTES), lambda _: None)


def test_the_lock_has_jars_for_each_purpose() -> None:
    assert {jar.purpose for jar in read_lock()} == set(fetch.PURPOSES)
    assert all(jar.path.endswith((".jar", ".tar.gz")) for jar in read_lock())


def test_an_unknown_purpose_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LocalcloudError, match="found 'spark', expected one of broker, "):
        fetch.fetch(tmp_path, ["spark"])


def test_what_is_fetched_is_said(
    server: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    (server / _PATH).write_bytes(_BYTES * 4)
    monkeypatch.setattr(fetch, "read_lock", lambda: [_jar(_BYTES * 4)])
    monkeypatch.setattr(fetch, "prepare", lambda: None)
    assert fetch.list_missing() == "Kafka, for MSK clusters (2 MB)"

    fetch.fetch(tmp_path, ["broker"])

    said = capsys.readouterr().out.splitlines()
    assert said[0] == "Kafka, for MSK clusters: 1 jars of 2 MB"
    assert said[-1].startswith("Terraform's provider for AWS: `terraform init` fetches it from ")
    assert fetch.list_missing() == ""


@pytest.mark.parametrize(
    ("there", "environ", "expected"),
    [
        (".terraformrc", {}, "as {home}/.terraformrc says"),
        ("mirror.tfrc", {"TF_CLI_CONFIG_FILE": "{home}/mirror.tfrc"}, "as {home}/mirror.tfrc says"),
        (".terraform.d/plugins/x", {}, "in {home}/.terraform.d/plugins, if it is there"),
        ("other", {}, "from Terraform's registry"),
    ],
)
def test_the_place_of_terraforms_provider(
    tmp_path: Path, there: str, environ: dict[str, str], expected: str
) -> None:
    (tmp_path / there).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / there).touch()
    given = {name: value.format(home=tmp_path) for name, value in environ.items()}

    assert fetch.find_provider(given, tmp_path).endswith(expected.format(home=tmp_path))
