"""The command that runs Kafka: class path, our compiled classes, flags for a small, fast start."""

from __future__ import annotations

import hashlib
import os
import shutil
import socket
import subprocess
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

from localcloud.children import java_scratch
from localcloud.errors import MissingToolError
from localcloud.folders import CACHE
from localcloud.jars import JARS, find_jars

_JARS = JARS / "broker"
_SOURCE = Path(__file__).with_name("Broker.java")
_CACHE = CACHE / "brokers"
ARCHIVE = "classes.jsa"

# C1 only: ready in half the time, 20 MB smaller; only bulk reads over TLS are slower.
_FLAGS = ("-Xmx160m", "-Xms32m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")

# Warnings and errors, and the one line that reports a server as started.
_LOGGING = """\
status = error
appender.console.type = Console
appender.console.name = console
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %d{HH:mm:ss.SSS} %p %c{1}: %m%n
rootLogger.level = warn
rootLogger.appenderRef.console.ref = console
logger.ready.name = kafka.server.KafkaRaftServer
logger.ready.level = info
"""

_HOSTS = f"127.0.0.1 localhost {socket.gethostname()}\n"


@dataclass(frozen=True, slots=True)
class Jvm:
    """A Java command for Kafka, with the files that `load_jvm` writes to the directory.

    With `recording`, the JVM leaves an archive of its loaded classes beside its properties at exit.
    """

    directory: Path
    recording: bool = False

    def command(
        self,
        properties: Path,
        token_url: str,
        format_as: str | None = None,
        agent: str | None = None,
    ) -> list[str]:
        """Return the command of a server, which ends with the process that started it.

        A controller's disk is formatted for the cluster id `format_as` if it is not formatted yet.
        `agent` is the flag of a Java agent.
        """
        return [
            "java",
            *_FLAGS,
            *java_scratch(properties.parent),
            *self._archive_flags(properties),
            *([agent] if agent else []),
            f"-Dlog4j2.configurationFile={self.directory / 'log4j2.properties'}",
            # A broker looks up the name of its own address at each login. A slow name server
            # would block its only network thread for seconds.
            f"-Djdk.net.hosts.file={self.directory / 'hosts'}",
            f"-Dlocalcloud.token.url={token_url}",
            "-cp",
            f"{self.directory / 'localcloud.jar'}:{_JARS}/*",
            "localcloud.Broker",
            str(properties),
            *([format_as] if format_as else []),
        ]

    def _archive_flags(self, properties: Path) -> list[str]:
        if self.recording:
            return [f"-XX:ArchiveClassesAtExit={properties.with_name(ARCHIVE)}"]
        # Without the archive Java starts slower and would log that at each start.
        return [f"-XX:SharedArchiveFile={self.directory / ARCHIVE}", "-Xlog:cds=off"]


def load_jvm() -> Jvm:
    """Compile our classes into the cache if they are missing for these jars.

    Raises:
        MissingToolError: there is no JDK, or the jars are missing.
    """
    directory = _CACHE / _fingerprint()
    if not directory.exists():
        _CACHE.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=_CACHE) as scratch:
            made = Path(scratch) / "made"
            _compile(made, Path(scratch) / "classes")
            _drop_stale()
            # Rename in one step: nobody sees an incomplete folder; the second writer yields.
            if not directory.exists():
                made.rename(directory)
    return Jvm(directory)


def _fingerprint() -> str:
    """Return a digest of what the classes and the archive depend on: jars, JDK, source."""
    javac = shutil.which("javac")
    if javac is None:
        raise MissingToolError("javac was not found: install a JDK 17 or 21 (openjdk-17-jdk)")
    digest = hashlib.sha256(_SOURCE.read_bytes() + (_LOGGING + _HOSTS).encode())
    for path in (Path(os.path.realpath(javac)), *find_jars(_JARS)):
        stat = path.stat()
        # The JVM also compares names, sizes and times, and ignores an archive that differs.
        digest.update(f"{path} {stat.st_size} {stat.st_mtime_ns}\n".encode())
    return digest.hexdigest()[:16]


def _compile(made: Path, classes: Path) -> None:
    made.mkdir()
    class_path = f"{_JARS}/*"
    done = subprocess.run(
        ["javac", "-J-XX:TieredStopAtLevel=1", "-d", str(classes), "-cp", class_path, str(_SOURCE)],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise MissingToolError(f"javac cannot compile {_SOURCE.name}: {done.stderr.strip()}")
    # A jar, not a folder: AppCDS archives only classes from jars.
    with zipfile.ZipFile(made / "localcloud.jar", "w") as jar:
        for path in sorted(classes.rglob("*.class")):
            jar.write(path, path.relative_to(classes))
    (made / "log4j2.properties").write_text(_LOGGING)
    (made / "hosts").write_text(_HOSTS)


def _drop_stale() -> None:
    for old in _CACHE.iterdir():
        if (old / "localcloud.jar").exists():
            shutil.rmtree(old)
