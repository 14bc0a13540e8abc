"""Maven fetches the jars, and they are those of the lock file."""

from __future__ import annotations

import hashlib
import io
import os
import tarfile
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

from localcloud import jars
from localcloud.command import fetch
from localcloud.errors import DownloadError, LocalcloudError, MissingToolError
from localcloud.jars import Jar, fetch_jars, read_lock

_BYTES = b"a jar" * 100_000
_NAME = "x-1.jar"
# Stands for Maven: copies what is in REPOSITORY, and says so as Maven does.
_MAVEN = """#!/bin/sh
echo "$MAVEN_OPTS $*" >"$CALLS"
for word in "$@"; do case "$word" in -DoutputDirectory=*) to=${word#*=} ;; esac; done
to=$(echo "$to" | sed 's/[$]{project.artifactId}/broker/')
mkdir -p "$to" && cp "$REPOSITORY"/* "$to"
for file in "$REPOSITORY"/*; do
    echo "[INFO] Downloaded from mirror: https://mirror.example/x/${file##*/} (5 kB at 1 MB/s)"
done
"""
_FAILING = "#!/bin/sh\necho '[ERROR] Could not resolve x:x:jar:1 -> [Help 1]'\nexit 1\n"


@pytest.fixture
def provide(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], None]:
    """Put a program on a PATH where Java and Maven are no others, and jars in a folder."""
    programs = tmp_path / "bin"
    programs.mkdir()
    monkeypatch.setattr(jars, "JARS", tmp_path / "jars")
    monkeypatch.setenv("PATH", f"{programs}:/bin")
    monkeypatch.setattr("shutil.which", lambda name: (programs / name).exists() or None)
    monkeypatch.setenv("CALLS", str(tmp_path / "calls"))

    def write(name: str, text: str) -> None:
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)

    return write


@pytest.fixture
def repository(
    provide: Callable[[str, str], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """A folder whose files the Maven of this machine has."""
    provide("javac", "#!/bin/sh\n")
    provide("mvn", _MAVEN)
    folder = tmp_path / "repository"
    folder.mkdir()
    monkeypatch.setenv("REPOSITORY", str(folder))
    return folder


def _jar(data: bytes, name: str = _NAME, holds: str = "") -> Jar:
    return Jar("broker", name, len(data), hashlib.sha256(data).hexdigest(), holds)


def _ignore(_: Jar) -> None:
    """Show no progress."""


def test_jars_are_fetched_with_their_progress_and_in_place_of_older_ones(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MAVEN_OPTS", "-Dmine=1")
    (repository / _NAME).write_bytes(_BYTES)
    (tmp_path / "jars/broker").mkdir(parents=True)
    (tmp_path / "jars/broker/x-0.jar").touch()
    jar, seen = _jar(_BYTES), list[Jar]()
    assert jar.is_missing

    fetch_jars([jar], seen.append)

    assert [path.name for path in (tmp_path / "jars/broker").iterdir()] == [_NAME]
    assert [path.name for path in (tmp_path / "jars").iterdir()] == ["broker"]
    assert not jar.is_missing
    assert seen == [jar]
    words = (tmp_path / "calls").read_text().split()
    assert "-Dmine=1" in words
    assert words[words.index("--projects") + 1] == ":broker"
    assert "--settings" not in words  # the user's own


def test_an_archive_is_unpacked(repository: Path, tmp_path: Path) -> None:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        member = tarfile.TarInfo("runner.jar")
        member.size = 3
        archive.addfile(member, io.BytesIO(b"run"))
    (repository / "app.tar.gz").write_bytes(packed.getvalue())
    jar = _jar(packed.getvalue(), "app.tar.gz", "runner.jar")

    fetch_jars([jar], _ignore)

    assert [path.name for path in (tmp_path / "jars/broker").iterdir()] == ["runner.jar"]
    assert not jar.is_missing


def test_another_file_than_that_of_the_lock_is_refused(repository: Path) -> None:
    (repository / _NAME).write_bytes(b"b" + _BYTES[1:])
    jar = _jar(_BYTES)

    with pytest.raises(
        DownloadError,
        match=rf"{_NAME} of Maven has the SHA-256 \w+, expected {jar.sha256}: delete it from ",
    ):
        fetch_jars([jar], _ignore)

    assert jar.is_missing


def test_a_file_that_maven_does_not_bring_is_named(repository: Path) -> None:
    (repository / "other.jar").touch()

    with pytest.raises(DownloadError, match=rf"Maven fetched no {_NAME} for broker"):
        fetch_jars([_jar(_BYTES)], _ignore)


@pytest.mark.usefixtures("repository")
def test_what_maven_says_is_said_with_what_to_do(provide: Callable[[str, str], None]) -> None:
    provide("mvn", _FAILING)

    with pytest.raises(
        DownloadError,
        match=r"cannot fetch the jars: Could not resolve x:x:jar:1; .* in ~/\.m2/settings\.xml$",
    ):
        fetch_jars([_jar(_BYTES)], _ignore)


def test_a_missing_jdk_or_maven_is_named_with_its_package(
    provide: Callable[[str, str], None],
) -> None:
    with pytest.raises(MissingToolError, match=r"no javac on PATH, expected a JDK 17 or 21 \(apt"):
        fetch_jars([_jar(_BYTES)], _ignore)

    provide("javac", "#!/bin/sh\n")
    with pytest.raises(MissingToolError, match=r"no mvn on PATH, expected Maven 3\.8 or later \("):
        fetch_jars([_jar(_BYTES)], _ignore)


def test_the_lock_has_jars_for_each_purpose_and_each_has_a_pom() -> None:
    poms = jars._POM.parent
    modules = ElementTree.parse(jars._POM).iter("{http://maven.apache.org/POM/4.0.0}module")  # noqa: S314 - ours

    assert {jar.purpose for jar in read_lock()} == set(fetch.PURPOSES)
    assert {module.text for module in modules} == {f"{each}.xml" for each in fetch.PURPOSES}
    for purpose in fetch.PURPOSES:
        assert f"<artifactId>{purpose}</artifactId>" in (poms / f"{purpose}.xml").read_text()
    assert all(jar.file.endswith((".jar", ".tar.gz")) for jar in read_lock())


def test_an_unknown_purpose_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LocalcloudError, match="found 'spark', expected one of broker, "):
        fetch.fetch(tmp_path, ["spark"])


@pytest.mark.parametrize("terminal", [False, True])
def test_what_is_fetched_is_said(
    repository: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    terminal: bool,
) -> None:
    (repository / _NAME).write_bytes(_BYTES * 4)
    monkeypatch.setattr(fetch, "read_lock", lambda: [_jar(_BYTES * 4)])
    monkeypatch.setattr(fetch, "prepare", lambda: None)
    monkeypatch.setattr("sys.stderr.isatty", lambda: terminal)
    assert fetch.list_missing() == "Kafka, for MSK clusters (2 MB)"

    fetch.fetch(Path(os.devnull), ["broker"])

    told = capsys.readouterr()
    said = told.out.splitlines()
    assert said[0] == "Kafka, for MSK clusters: 2 MB from Maven"
    assert said[-1].startswith("Terraform's provider for AWS: `terraform init` ")
    assert (f"[{'#' * 30}] 2.0 of 2.0 MB  {_NAME}" in told.err) == terminal
    assert bool(told.err) == terminal
    assert fetch.list_missing() == ""


@pytest.mark.parametrize(
    ("there", "environ", "expected"),
    [
        (".terraformrc", {}, "as {home}/.terraformrc says"),
        ("mirror.tfrc", {"TF_CLI_CONFIG_FILE": "{home}/mirror.tfrc"}, "as {home}/mirror.tfrc says"),
        (".terraform.d/plugins/x", {}, "in {home}/.terraform.d/plugins, if it is there"),
        ("other", {}, "`terraform init -plugin-dir=DIR` takes it unpacked from a folder"),
    ],
)
def test_the_place_of_terraforms_provider(
    tmp_path: Path, there: str, environ: dict[str, str], expected: str
) -> None:
    (tmp_path / there).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / there).touch()
    given = {name: value.format(home=tmp_path) for name, value in environ.items()}

    assert fetch.find_provider(given, tmp_path).endswith(expected.format(home=tmp_path))
