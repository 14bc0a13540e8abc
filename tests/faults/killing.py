"""The real Spark job as a process of its own, and traps that kill or stop it at a call to AWS."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

import pyspark

from localcloud.door.operations import Call, HttpAnswer
from localcloud.jobs import archive_options
from localcloud.network.names import HOSTS_VARIABLE
from penstock.spark.session import session_settings

ACCOUNT = "111111111111"
REGION = "eu-central-1"
_ROOT = Path(__file__).parents[2]
_NAMES = _ROOT / "localcloud/src/localcloud/network/python_path"  # makes Python read the hosts file
# Half of a start is the compiling of what runs a few times: other tests look at what it computes.
_QUICK = {
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.codegen.wholeStage": "false",
}
_QUICK_JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


@dataclass(frozen=True)
class Step:
    """A call that the job makes on its way: any, one of an operation, or one at a place."""

    operation: str = ""
    place: str = ""

    def fits(self, call: Call) -> bool:
        """Whether a call is this one."""
        if self.operation not in {"", call.operation}:
            return False
        return re.search(self.place, _find_place(call)) is not None


def _find_place(call: Call) -> str:
    """Give the key of a call of S3, the tables of a call of DynamoDB, or nothing."""
    tables = call.params.get("RequestItems") or [call.params.get("TableName", "")]
    return str(call.params.get("Key", "")) if call.service == "s3" else " ".join(tables)


@dataclass
class Trap:
    """Kills a job at the last of some steps, which it takes in their order.

    `performed` says whether that call has its effect; its answer reaches nobody. With `pause` the
    call is answered, and the job lives on for so many seconds. A trap that `stops` the job answers
    it when it goes on. One for an `executor` kills the job's only one, and the driver lives.
    """

    steps: Sequence[Step] = ()
    performed: bool = False
    pause: float | None = None
    stops: bool = False
    executor: bool = False
    kill: Callable[[], None] = lambda: None
    calls: list[str] = field(default_factory=list)
    shut: threading.Event = field(default_factory=threading.Event)
    _taken: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def snapped(self) -> bool:
        """Whether the last step was taken."""
        return 0 < len(self.steps) == self._taken

    def around(self, call: Call, perform: Callable[[], HttpAnswer]) -> HttpAnswer | None:
        """Perform a call of the job, unless it dies before; None stands for no answer."""
        if not self._is_last(call):
            return perform()
        if self.pause is not None:
            threading.Timer(self.pause, self.kill).start()
            return perform()
        answer = perform() if self.performed else None
        self.kill()
        self.shut.set()
        return answer if self.stops else None

    def _is_last(self, call: Call) -> bool:
        with self._lock:
            self.calls.append(f"{call.operation} {_find_place(call)}")
            if self.snapped or self.steps == () or not self.steps[self._taken].fits(call):
                return False
            self._taken += 1
            return self.snapped


class JobProcess:
    """`spark-submit` of a program in jobs/ in a group of its own."""

    def __init__(
        self,
        master: str,
        words: Sequence[str],
        endpoint: str,
        hosts_file: Path,
        folder: Path,
    ) -> None:
        """Start a program with its arguments in a folder, with the names of a hosts file."""
        folder.mkdir()
        self._output = folder / "output"
        submit = Path(pyspark.__file__).parent / "bin" / "spark-submit"
        job = str(_ROOT / "jobs" / f"{words[0]}.py")
        settings = _settings(endpoint, hosts_file, folder)
        with self._output.open("wb") as output:
            self._process = subprocess.Popen(
                [str(submit), "--master", master, *settings, job, *words[1:]],
                cwd=folder,
                env=_environ(endpoint, hosts_file, folder),
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


def _is_executor(folder: Path) -> bool:
    try:
        return b"CoarseGrainedExecutorBackend" in (folder / "cmdline").read_bytes()
    except OSError:  # it has ended
        return False


def _settings(endpoint: str, hosts_file: Path, folder: Path) -> list[str]:
    folders = ("jars/spark/lib", "localcloud/.cache/jars/s3")
    found = [path for folder in folders for path in _ROOT.glob(f"{folder}/*.jar")]
    jars = {path.name: str(path) for path in found}
    assert jars, "no jars in jars/spark/lib, run `make install`"
    ours = session_settings()
    options = f"-Djdk.net.hosts.file={hosts_file}"
    lake, s3a = "spark.sql.catalog.lake", "spark.hadoop.fs.s3a"
    settings = {
        **ours,
        **_QUICK,
        "spark.driver.extraJavaOptions": f"{options} {_QUICK_JAVA} {archive_options()}",
        "spark.jars": ",".join(jars.values()),
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "1g",
        "spark.executor.extraJavaOptions": f"{options} {_QUICK_JAVA} {archive_options()}",
        "spark.executor.memory": "512m",
        "spark.log.level": "WARN",
        "spark.local.dir": str(folder / "local"),
        "spark.python.daemon.module": "tests.spark.daemon",
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


def _environ(endpoint: str, hosts_file: Path, folder: Path) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "JAVA_HOME") if name in os.environ}
    return {
        **kept,
        "HOME": str(folder),
        "LANG": "C.UTF-8",
        "PYSPARK_PYTHON": sys.executable,
        "PYTHONPATH": os.pathsep.join(map(str, (_NAMES, _ROOT / "src", _ROOT))),
        HOSTS_VARIABLE: str(hosts_file),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "AWS_ACCESS_KEY_ID": ACCOUNT,
        "AWS_SECRET_ACCESS_KEY": "any",
        "AWS_REGION": REGION,
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_ENDPOINT_URL": endpoint,
    }
