"""The jars that localcloud starts: which there are, where they are, and Maven, which fetches them.

`poms/` names them, one pom for each purpose. `jars.toml` has the size and the SHA-256 of each file.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import tarfile
import tempfile
import tomllib
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from localcloud.errors import DownloadError, MissingToolError
from localcloud.folders import CACHE

JARS: Final = CACHE / "jars"
_LOCK = Path(__file__).with_name("jars.toml")
_POM = Path(__file__).with_name("poms") / "pom.xml"
_COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies"
_QUICK_START = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
_PROGRAMS = {
    "javac": "a JDK 17 or 21 (apt install openjdk-17-jdk-headless)",
    "mvn": "Maven 3.8 or later (apt install maven)",
}
_DOWNLOADED = re.compile(r"Downloaded from .*/(\S+) \(")
_ERROR = "[ERROR] "


@dataclass(frozen=True, slots=True)
class Jar:
    """A file that Maven fetches. An archive `holds` a file that shows that it was unpacked.

    The purpose is the name of its pom and of its folder: broker, connect, exporter, registry or s3.
    """

    purpose: str
    file: str
    size: int
    sha256: str
    holds: str = ""

    @property
    def is_missing(self) -> bool:
        """Return whether it is to be fetched."""
        if self.holds:
            return not (JARS / self.purpose / self.holds).is_file()
        file = JARS / self.purpose / self.file
        return not file.is_file() or file.stat().st_size != self.size


def read_lock() -> list[Jar]:
    """Return all jars, by their purpose."""
    return [Jar(**each) for each in tomllib.loads(_LOCK.read_text())["jar"]]


def find_jars(folder: Path) -> list[Path]:
    """Return the jars in a folder.

    Raises:
        MissingToolError: it has none.
    """
    jars = sorted(folder.glob("*.jar"))
    if not jars:
        raise MissingToolError(f"no jars in {folder}: run `localcloud fetch`")
    return jars


def fetch_jars(jars: Collection[Jar], progress: Callable[[Jar], None]) -> None:
    """Fetch all jars of some purposes, and put them in the place of what is in their folders.

    `progress` is called with each jar that Maven downloads; it copies those that it has.

    Raises:
        MissingToolError: this machine has no JDK or no Maven.
        DownloadError: Maven fails, or a file is another one than that of the lock.
    """
    by_name = {jar.file: jar for jar in jars}

    def tell(name: str) -> None:
        if name in by_name:
            progress(by_name[name])

    with copied_jars({jar.purpose for jar in jars}, tell) as folder:
        for jar in jars:
            _check(jar, folder / jar.purpose / jar.file)
        for jar in jars:
            if jar.holds:
                _unpack(folder / jar.purpose / jar.file)
        for purpose in {jar.purpose for jar in jars}:
            shutil.rmtree(JARS / purpose, ignore_errors=True)
            (folder / purpose).rename(JARS / purpose)  # in one step: nobody sees half of them


@contextmanager
def copied_jars(purposes: Collection[str], tell: Callable[[str], None]) -> Iterator[Path]:
    """Have a folder, with one for each purpose in which Maven put its files; `tell` gets names.

    Maven takes the user's own settings: mirrors, proxies and the folder of what it has.
    """
    for program, expected in _PROGRAMS.items():
        if shutil.which(program) is None:
            raise MissingToolError(f"found no {program} on PATH, expected {expected}")
    JARS.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=JARS) as scratch:
        words = ["--batch-mode", "-Dstyle.color=never", "--file", str(_POM)]
        words += ["--projects", ",".join(f":{purpose}" for purpose in sorted(purposes))]
        _run_maven([*words, _COPY, f"-DoutputDirectory={scratch}/${{project.artifactId}}"], tell)
        yield Path(scratch)


def _run_maven(words: list[str], tell: Callable[[str], None]) -> None:
    options = {"MAVEN_OPTS": f"{_QUICK_START} {os.environ.get('MAVEN_OPTS', '')}"}
    errors = []
    with subprocess.Popen(
        ["mvn", *words],
        env=os.environ | options,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as maven:
        for line in maven.stdout or ():
            if found := _DOWNLOADED.search(line):
                tell(found[1])
            elif line.startswith(_ERROR):
                errors.append(line.removeprefix(_ERROR).partition(" -> ")[0].strip())
    if maven.returncode:
        said = errors[0] if errors else f"it ended with {maven.returncode}"
        raise DownloadError(
            f"Maven cannot fetch the jars: {said}; expected a Maven that reaches its repository: "
            "set your mirror or proxy in ~/.m2/settings.xml"
        )


def _check(jar: Jar, file: Path) -> None:
    if not file.is_file():
        raise DownloadError(f"Maven fetched no {jar.file} for {jar.purpose}, which jars.toml names")
    with file.open("rb") as content:
        found = hashlib.file_digest(content, "sha256").hexdigest()
    if found != jar.sha256:
        raise DownloadError(
            f"{jar.file} of Maven has the SHA-256 {found}, expected {jar.sha256}: delete it from "
            "~/.m2/repository and run `localcloud fetch` again, or ask who runs your mirror"
        )


def _unpack(file: Path) -> None:
    with tarfile.open(file) as archive:
        archive.extractall(file.parent, filter="data")
    file.unlink()
