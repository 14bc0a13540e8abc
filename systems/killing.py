"""The real Spark job as a process of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import ClassVar, Self

import pyspark

from localcloud.jobs import archive_options
from localcloud.network.names import HOSTS_VARIABLE
from penstock.spark.session import session_settings
from systems.java import SHORT_LIVED_DRIVER

ACCOUNT = "111111111111"
REGION = "eu-central-1"
ROOT = Path(__file__).parents[1]
_NAMES = ROOT / "localcloud/src/localcloud/network/python_path"  # makes Python read the hosts file
# Half of a start is the compiling of what runs a few times: other tests look at what it computes.
_QUICK = {
    "spark.driver.memory": "1g",
    "spark.python.daemon.module": "tests.spark.daemon",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.codegen.wholeStage": "false",
}
_TIMED = {"spark.driver.memory": "2g"}


class JobProcess:
    """`spark-submit` of a program in jobs/ in a group of its own."""

    is_quick: ClassVar[bool] = True  # it saves the work of optimizing

    def __init__(
        self,
        master: str,
        words: Sequence[str],
        environ: Mapping[str, str],
        hosts_file: Path,
        folder: Path,
    ) -> None:
        """Start a program with its arguments in a folder, with variables of its own.

        The program is in jobs/ of a clone, whose other sources it has. Its variables name the
        endpoint of AWS and the keys.
        """
        folder.mkdir()
        self._output = folder / "output"
        submit = Path(pyspark.__file__).parent / "bin" / "spark-submit"
        sources = Path(words[0]).parents[1]
        settings = _settings(environ["AWS_ENDPOINT_URL"], hosts_file, folder, self.is_quick)
        with self._output.open("wb") as output:
            self._process = subprocess.Popen(
                [str(submit), "--master", master, *settings, *words],
                cwd=folder,
                env=_environ(hosts_file, folder, sources) | dict(environ),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def __enter__(self) -> Self:
        """Leave no process behind, stopped or not."""
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        self._process.wait()

    @property
    def pid(self) -> int:
        """The id of the JVM, and of the group."""
        return self._process.pid

    @property
    def code(self) -> int | None:
        """Its exit code, None while it runs."""
        return self._process.poll()

    def kill(self) -> None:
        """Kill JVM and Python at once, as the end of a machine does."""
        self._send(signal.SIGKILL)

    def kill_executor(self) -> None:
        """Kill the JVM of the only executor; its Python workers end with it."""
        (executor,) = [
            int(folder.name)
            for folder in Path("/proc").glob("[0-9]*")
            if _is_executor(folder) and os.getpgid(int(folder.name)) == self._process.pid
        ]
        os.kill(executor, signal.SIGKILL)

    def terminate(self) -> None:
        """Ask both to end."""
        self._send(signal.SIGTERM)

    def stop(self) -> None:
        """Let both do nothing at all, as the sleep of a machine does."""
        self._send(signal.SIGSTOP)

    def wake(self) -> None:
        """Let both go on."""
        self._send(signal.SIGCONT)

    def _send(self, number: signal.Signals) -> None:
        if self._process.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, number)

    def wait(self, seconds: float) -> int:
        """Wait for its end, make it one where it takes too long, and give the exit code."""
        try:
            return self._process.wait(seconds)
        finally:
            self.kill()
            self._process.wait()

    def tell(self, most: int = 5_000) -> str:
        """Give the end of what it printed."""
        return self._output.read_text(errors="replace")[-most:]


class TimedJobProcess(JobProcess):
    """The same, but it compiles as a deployed job does, with a heap of 2 GB."""

    is_quick = False


def _is_executor(folder: Path) -> bool:
    try:
        return b"CoarseGrainedExecutorBackend" in (folder / "cmdline").read_bytes()
    except OSError:  # it has ended
        return False


def _settings(endpoint: str, hosts_file: Path, folder: Path, is_quick: bool) -> list[str]:
    folders = ("jars/spark/lib", "localcloud/.cache/jars/s3")
    found = [path for folder in folders for path in ROOT.glob(f"{folder}/*.jar")]
    jars = {path.name: str(path) for path in found}
    assert jars, "no jars in jars/spark/lib, run `make install`"
    ours = session_settings()
    options = f"-Djdk.net.hosts.file={hosts_file} {archive_options()}"
    options += f" {SHORT_LIVED_DRIVER}" if is_quick else ""
    lake, s3a = "spark.sql.catalog.lake", "spark.hadoop.fs.s3a"
    settings = {
        **ours,
        **(_QUICK if is_quick else _TIMED),
        "spark.driver.extraJavaOptions": options,
        "spark.jars": ",".join(jars.values()),
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.executor.extraJavaOptions": options,
        "spark.executor.memory": "512m",
        "spark.log.level": "WARN",
        "spark.local.dir": str(folder / "local"),
        "spark.sql.shuffle.partitions": "2",
        "spark.ui.enabled": "false",
        "spark.hadoop.fs.s3.impl": "org.apache.hadoop.fs.s3a.S3AFileSystem",
        "spark.hadoop.fs.AbstractFileSystem.s3.impl": "org.apache.hadoop.fs.s3a.S3A",
        f"{s3a}.endpoint": endpoint,
        f"{s3a}.endpoint.region": REGION,
        f"{s3a}.path.style.access": "true",
        f"{s3a}.connection.ssl.enabled": "false",
        f"{lake}.client.region": REGION,
        f"{lake}.glue.endpoint": endpoint,
        f"{lake}.s3.endpoint": endpoint,
        f"{lake}.s3.path-style-access": "true",
    }
    return [word for name, value in settings.items() for word in ("--conf", f"{name}={value}")]


def _environ(hosts_file: Path, folder: Path, sources: Path) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "JAVA_HOME") if name in os.environ}
    return {
        **kept,
        "HOME": str(folder),
        "LANG": "C.UTF-8",
        "PYSPARK_PYTHON": sys.executable,
        "PYTHONPATH": os.pathsep.join(map(str, (_NAMES, sources / "src", sources))),
        HOSTS_VARIABLE: str(hosts_file),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "AWS_REGION": REGION,
        "AWS_EC2_METADATA_DISABLED": "true",
    }
