"""The main function of a poller's process: `python -m localcloud.poller.worker`.

The standard input is one line, a JSON object {"mapping", "service_account", "region",
"ca_files"}; its end is the order to stop, whether sent or caused by the end of localcloud. The
standard output is one JSON line for each change: {"state": "Enabled"}, {"result": "OK"},
{"lag": "5"}, which is empty while nothing is polled. A mapping is Enabled once a poller has taken
its position, or has a problem.
"""

from __future__ import annotations

import functools
import json
import os
import sys
import threading
import time
import traceback
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from kafka.errors import KafkaError

from localcloud.destinations import send_record, service_of
from localcloud.poller.access import AccessError, check_cluster_rights, read_options
from localcloud.poller.batch import Place, is_wanted, make_item, place_of
from localcloud.poller.delivery import NOTHING_YET, CallRefusedError, Delivery, Reply
from localcloud.poller.patterns import parse_pattern
from localcloud.poller.poller import Poller
from localcloud.poller.probe import MissingTopicError, check_topics
from localcloud.poller.settings import MappingSettings, read_settings

_IDLE_SECONDS = 3.0  # the interval at which an idle poller checks the brokers
_RETRY_SECONDS = 1.0
_PATIENCE_SECONDS = 0.25
_GRACE_SECONDS = 3.0  # for the running call at the order to stop
_STOP_SECONDS = 5.0
_LONGEST_FUNCTION_SECONDS = 910
_SHORT_CALLS = Config(connect_timeout=5, read_timeout=10, retries={"total_max_attempts": 2})


class Reports:
    """The reports to localcloud; each result only when it changes."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last = {"result": NOTHING_YET}
        self._obstacle = ""
        self._lags: dict[int, int] = {}

    def tell(self, result: str) -> None:
        """Report the result of the last call."""
        self.say(result=result)

    def obstruct(self, problem: str) -> None:
        """Report a problem; the mapping counts as enabled."""
        self._obstacle = f"PROBLEM: {problem}"
        self.say(result=self._obstacle, state="Enabled", lag="")

    def measure(self, worker: int, lag: int) -> None:
        """Report the records that wait for one of the workers, with those of the others."""
        with self._lock:
            self._lags[worker] = lag
            total = sum(self._lags.values())
        self.say(lag=str(total))

    def clear(self) -> None:
        """Report that the problem is gone."""
        if self._last.get("result") == self._obstacle:
            self.say(result=NOTHING_YET)

    def say(self, **what: str) -> None:
        """Report the new value of a field."""
        with self._lock:
            if what.items() <= self._last.items():
                return
            self._last |= what
            print(json.dumps(what), flush=True)


class AwsCalls:
    """Invokes as Lambda itself does, and sends to destinations with the function's role.

    The role's keys and the endpoint are in the environment.
    """

    def __init__(self, settings: MappingSettings, account: str, region: str) -> None:
        self._settings = settings
        self._function = boto3.client(
            "lambda",
            region_name=region,
            aws_access_key_id=account,
            aws_secret_access_key="lambda",  # noqa: S106 - the access key is the account id
            config=Config(
                read_timeout=_LONGEST_FUNCTION_SECONDS, retries={"total_max_attempts": 1}
            ),
        )

    def invoke(self, event: bytes) -> Reply:
        """Invoke the function and wait for its answer."""
        try:
            answer = self._function.invoke(FunctionName=self._settings.function_arn, Payload=event)
            body = answer["Payload"].read()
        except (ClientError, BotoCoreError) as error:
            raise CallRefusedError(f"Function call failed: {error}") from error
        request_id = answer["ResponseMetadata"]["RequestId"]
        return Reply(
            request_id, answer.get("ExecutedVersion", ""), answer.get("FunctionError"), body
        )

    def discard(self, record: Mapping[str, Any], event: bytes) -> None:
        """Send the failure record; only S3 gets the event too."""
        destination = self._settings.destination
        if destination is None:
            return
        if service_of(destination) == "s3":
            record = {**record, "payload": event.decode()}
        path = f"{self._settings.uuid}/{self._settings.function_arn.split(':')[6]}"
        try:
            send_record(_open_client, destination, path, record)
        except (ClientError, BotoCoreError) as error:
            raise CallRefusedError(str(error)) from error


class Worker:
    """One member of the group, from login to the end; it restarts after a failure."""

    def __init__(self, job: Mapping[str, Any], reports: Reports, stop: threading.Event) -> None:
        self._settings = read_settings(job["mapping"])
        self._ca_files = [Path(name) for name in job["ca_files"]]
        self._patterns = [parse_pattern(text) for text in self._settings.filters]
        self._calls = AwsCalls(self._settings, job["service_account"], job["region"])
        self._reports = reports
        self._stop = stop
        self._authorized = False  # since the last login
        self._pool = ThreadPoolExecutor(1)

    def run(self) -> None:
        """Work until the order to stop, and report problems."""
        while not self._stop.is_set():
            try:
                self._assume_role()
                options = read_options(self._settings, _open_client, self._ca_files)
                self._authorized = False
                self._probe(options)
                poller = Poller(self._settings, options)
                try:
                    self._consume(poller, options)
                finally:
                    poller.close()
            except (AccessError, KafkaError) as error:
                self._reports.obstruct(str(error))
                self._stop.wait(_RETRY_SECONDS)
            except Exception as error:  # a poller must not end silently
                traceback.print_exc()
                self._reports.obstruct(repr(error))
                self._stop.wait(_RETRY_SECONDS)

    def _assume_role(self) -> None:
        """Call STS as AWS's poller does: a VPC without an endpoint for it fails here."""
        try:
            _open_client("sts").get_caller_identity()
        except (ClientError, BotoCoreError) as error:
            raise AccessError(f"the function's role cannot be assumed: {error}") from error

    def _probe(self, options: Mapping[str, Any]) -> None:
        """Log in, to report why that fails; a topic may be created later."""
        try:
            check_topics(options, self._settings.topics)
        except MissingTopicError as error:
            self._reports.obstruct(str(error))
        else:
            if not self._authorized:
                check_cluster_rights(options)
                self._authorized = True
            self._reports.clear()

    def _consume(self, poller: Poller, options: Mapping[str, Any]) -> None:
        while not self._stop.is_set():
            batch = poller.take(_IDLE_SECONDS, self._stop)
            if poller.placed:
                self._reports.say(state="Enabled")
                self._reports.measure(id(self), poller.measure_lag())
            if self._stop.is_set():
                return
            if batch:
                self._deliver(poller, batch)
            else:
                self._probe(options)
            if poller.is_kept_out:
                raise AccessError(
                    f"the consumer group {self._settings.group_id} rejects the poller"
                )

    def _deliver(self, poller: Poller, batch: Sequence[Any]) -> None:
        """Deliver a batch to the function, then commit its offsets."""
        ends = {place_of(record): record.offset + 1 for record in batch}
        items = [make_item(record) for record in batch if is_wanted(record, self._patterns)]
        delivery = Delivery(self._settings, items, self._calls, self._reports.tell, self._stop)
        while not delivery.finished:
            done, lost = self._step(poller, delivery)
            lost |= poller.commit(done)
            delivery.drop(lost)
            ends = {place: end for place, end in ends.items() if place not in lost}
            if self._stop.is_set() and not delivery.finished:
                return
        poller.commit(ends)  # records that no pattern matched are done too
        poller.finish()

    def _step(self, poller: Poller, delivery: Delivery) -> tuple[dict[Place, int], set[Place]]:
        """Make a step while staying in the group; return what is done and what was lost."""
        running = self._pool.submit(delivery.step)
        wait([running], _PATIENCE_SECONDS)  # a quick function needs no heartbeat
        lost: set[Place] = set()
        deadline = float("inf")
        while not running.done():
            if self._stop.is_set():
                deadline = min(deadline, time.monotonic() + _GRACE_SECONDS)
            if time.monotonic() > deadline:
                return {}, lost  # the function may still run; its records come again
            lost |= poller.keep_alive()
            self._reports.measure(id(self), poller.measure_lag())
        return running.result(), lost


@functools.cache  # to open one takes half a second of CPU time, and a problem is tried each second
def _open_client(service: str) -> Any:
    """Open a client with the function's role, which is in the environment."""
    session: Any = boto3.Session()
    return session.client(service, config=_SHORT_CALLS)


def main() -> None:
    """Read the job, work in one thread per poller of the mapping, stop on order."""
    job = json.loads(sys.stdin.readline())
    stop = threading.Event()
    reports = Reports()
    workers = [
        Worker(job, reports, stop) for _ in range(read_settings(job["mapping"]).poller_count)
    ]
    threads = [threading.Thread(target=worker.run, daemon=True) for worker in workers]
    for thread in threads:
        thread.start()
    sys.stdin.read()
    stop.set()
    for thread in threads:
        thread.join(_STOP_SECONDS)
    os._exit(0)  # a call that still runs is not waited for


if __name__ == "__main__":
    main()
