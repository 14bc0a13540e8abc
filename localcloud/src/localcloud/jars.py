"""The jars that localcloud starts: which there are, where they are, and their download.

`jars.toml` has the path in a Maven repository, the size and the SHA-256 of each file.
"""

from __future__ import annotations

import hashlib
import os
import tarfile
import tempfile
import tomllib
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from localcloud.errors import DownloadError, MissingToolError
from localcloud.folders import CACHE

JARS: Final = CACHE / "jars"
_LOCK = Path(__file__).with_name("jars.toml")
REPOSITORY: Final = "LOCALCLOUD_MAVEN"
_CHUNK_BYTES = 2**18
_TIMEOUT_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Jar:
    """A file of a Maven repository. An archive `holds` a file that shows that it was unpacked.

    The purpose is the name of its folder: broker, exporter, registry or s3.
    """

    purpose: str
    path: str
    size: int
    sha256: str
    holds: str = ""

    @property
    def folder(self) -> Path:
        """The folder that it belongs in."""
        return JARS / self.purpose

    @property
    def is_missing(self) -> bool:
        """Return whether it is to be fetched."""
        if self.holds:
            return not (self.folder / self.holds).is_file()
        file = self.folder / Path(self.path).name
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


def fetch_jar(jar: Jar, progress: Callable[[int], None]) -> None:
    """Fetch a jar from Maven's folder on this machine, or from the repository of LOCALCLOUD_MAVEN.

    `progress` is called with the number of bytes of each part that arrives.

    Raises:
        DownloadError: it cannot be fetched, or is another file than that of the lock.
    """
    url = _locate(jar)
    jar.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=jar.folder) as scratch:
        file = Path(scratch, Path(jar.path).name)
        try:
            found = _download(url, file, progress)
        except OSError as error:
            raise DownloadError(f"{url} cannot be fetched: {error}") from error
        if found != jar.sha256:
            raise DownloadError(f"{url} has the SHA-256 {found}, expected {jar.sha256}")
        if jar.holds:
            with tarfile.open(file) as archive:
                archive.extractall(jar.folder, filter="data")
        else:
            file.replace(jar.folder / file.name)  # in one step: nobody sees an incomplete file


def _locate(jar: Jar) -> str:
    """Return the URL of a jar."""
    local = Path.home() / ".m2/repository" / jar.path
    if local.is_file():
        return local.as_uri()
    repository = os.environ.get(REPOSITORY)
    if not repository:
        raise DownloadError(
            f"found no {jar.path} in ~/.m2/repository and no {REPOSITORY}, expected the URL of a "
            "Maven repository; set it to that of Maven Central or of your mirror"
        )
    return f"{repository.rstrip('/')}/{jar.path}"


def _download(url: str, file: Path, progress: Callable[[int], None]) -> str:
    """Write what a URL has into a file, and return its SHA-256."""
    digest = hashlib.sha256()
    with (
        urllib.request.urlopen(url, timeout=_TIMEOUT_SECONDS) as source,  # noqa: S310 - its URL is ours
        file.open("wb") as target,
    ):
        while part := source.read(_CHUNK_BYTES):
            digest.update(part)
            target.write(part)
            progress(len(part))
    return digest.hexdigest()
