"""Penstock's Spark job, begun again whenever it ends, as EMR Serverless does."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from typing import Final

from localcloud.network.names import write_hosts
from systems.accounts import ACCOUNT, REGION, make_errors
from systems.killing import JobProcess, TimedJobProcess
from systems.place import ROOT, Place
from systems.readers import DynamoLetters
from systems.subject import DATABASE
from systems.supervised import SupervisedJob

_ERROR: Final = re.compile(
    r"^(?:: |(?=penstock\.errors\.))([\w.$]+(?:Error|Exception): .*)", re.MULTILINE
)


class SparkJob:
    """The program that is deployed, `jobs/consume.py`, with its own settings for drivers."""

    account = ACCOUNT

    def __init__(self, place: Place, topic: str) -> None:
        folder = place.new_folder(f"{topic}/spark")
        hosts = folder / "hosts"
        write_hosts(hosts, {})
        table = f"{topic}-errors"
        self._letters, self._topic = DynamoLetters(place.aws, table), topic
        environ = {
            "AWS_ENDPOINT_URL": place.aws,
            "AWS_ACCESS_KEY_ID": self.account,
            "AWS_SECRET_ACCESS_KEY": "any",
            "AWS_REGION": REGION,
            **job_settings(place, make_errors(place.aws, table)),
        }
        words = [
            str(ROOT / "jobs/consume.py"),
            *("--topics", topic, "--lake-table", f"{DATABASE}.{topic.replace('-', '_')}"),
            *("--checkpoint", f"s3://lake-{self.account}/checkpoints/{topic}"),
        ]
        process = JobProcess if place.is_quick else TimedJobProcess
        numbers = itertools.count(1)
        self._job = SupervisedJob(
            lambda: process("local[2]", words, environ, hosts, folder / str(next(numbers)))
        )
        self._running = self._job.running()
        self._trouble = ""

    @property
    def restarts(self) -> int:
        """How often the driver had ended by itself; one that another took over from does."""
        return len(self._job.ends)

    @property
    def pid(self) -> int:
        """The id of the JVM, whose child is Python."""
        return self._job.pid

    def start(self) -> None:
        """Begin to supervise it."""
        self._running.__enter__()

    def kill(self) -> bool:
        """Kill the driver."""
        return self._job.kill()

    def stall(self, seconds: float) -> bool:
        """Stop the driver while another one takes over; it must end when it wakes."""
        stall = self._job.stall(seconds)
        self._trouble = stall.trouble
        return stall.stood_still

    def tend(self) -> None:
        """Leave it to the thread that supervises it."""

    def letters(self) -> Sequence[bytes]:
        """Return the bytes of its dead letters."""
        return self._letters.read(self._topic)

    def describe_trouble(self) -> str:
        """Return what went wrong as another driver took over, or the error of its last end."""
        return self._trouble or (find_error(self._job.ends[-1].said) if self._job.ends else "")

    def close(self) -> None:
        """End it."""
        self._running.__exit__(None, None, None)


def job_settings(place: Place, errors: Mapping[str, str]) -> Mapping[str, str]:
    """Return the settings of a job, all but its topics, table and checkpoint."""
    return {
        **errors,
        "KAFKA_BOOTSTRAP_SERVERS": place.servers,
        "KAFKA_SECURITY": "plaintext",
        "PENSTOCK_REGISTRY": f"apicurio+http://{place.registry}",
        "PENSTOCK_TRIGGER": "5 seconds",
        "PENSTOCK_KEY": "id",
        "PENSTOCK_SORT_NAME": "rowId",
        "PENSTOCK_EVENT_TIME": "none",
    }


def find_error(said: str) -> str:
    """Return Penstock's own error in what a driver printed, or else the first one below Python."""
    lines = _ERROR.findall(said)
    own = (line for line in lines if line.startswith("penstock.errors."))
    return next(own, lines[0] if lines else "")
