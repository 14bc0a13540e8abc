"""The localcloud that runs on a folder, from a small file that is checked against the process."""

from __future__ import annotations

import json
import os
import shutil
import signal
import time
import urllib.error
import urllib.request
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from localcloud.children import SERVER_VARIABLE
from localcloud.errors import LocalcloudError

_FILE = "localcloud.json"
_POLL_SECONDS = 0.05
_DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # whatever http_proxy says


@dataclass(frozen=True, slots=True)
class Instance:
    """A server process; its id and start time together identify it, as ids are reused."""

    pid: int
    started: int
    endpoint: str

    @property
    def alive(self) -> bool:
        """Return whether exactly this process runs."""
        return self.started != 0 and start_time(self.pid) == self.started

    @property
    def mark(self) -> str:
        """The value of SERVER_VARIABLE in the environment of each process that it started."""
        return f"{self.pid}.{self.started}"

    def end_processes(self) -> None:
        """Kill what it started and a kill -9 of it left, such as a process that is stopped."""
        while left := _list_processes(f"{SERVER_VARIABLE}={self.mark}"):
            for pid in left:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(_POLL_SECONDS)

    def end(self, seconds: float) -> bool:
        """Send SIGTERM and wait; kill it after that time. Return whether it ended by itself."""
        if self.alive:
            os.kill(self.pid, signal.SIGTERM)
        deadline = time.monotonic() + seconds
        while self.alive and time.monotonic() < deadline:
            time.sleep(_POLL_SECONDS)
        if not self.alive:
            return True
        os.kill(self.pid, signal.SIGKILL)
        while self.alive:
            time.sleep(_POLL_SECONDS)
        return False

    def ask(self, name: str, **arguments: Any) -> Any:
        """Call a control endpoint: with arguments an action, without a description.

        Raises:
            LocalcloudError: it refused; the message is its own.
        """
        body = json.dumps(arguments).encode() if arguments else None
        request = urllib.request.Request(  # noqa: S310 - our own server
            f"{self.endpoint}/_localcloud/{name}", body, {"Content-Type": "application/json"}
        )
        try:
            with _DIRECT.open(request) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            with error:
                raise LocalcloudError(json.load(error)["error"]) from error


def find_instance(folder: Path) -> Instance | None:
    """Return the server that runs on a folder, or None."""
    instance = read_instance(folder)
    return instance if instance is not None and instance.alive else None


def read_instance(folder: Path) -> Instance | None:
    """Return the server that runs on a folder or ended without `down`, or None."""
    try:
        return Instance(**json.loads((folder / _FILE).read_text()))
    except (OSError, ValueError, TypeError):
        return None


def note_instance(folder: Path, endpoint: str) -> None:
    """Record in one step that this process serves a folder, and mark the processes it starts."""
    instance = Instance(os.getpid(), start_time(os.getpid()), endpoint)
    os.environ[SERVER_VARIABLE] = instance.mark
    scratch = folder / f"{_FILE}.new"
    scratch.write_text(json.dumps(asdict(instance)))
    scratch.replace(folder / _FILE)


def clear_folder(folder: Path) -> None:
    """Create the folder, or empty it if it belongs to an earlier localcloud.

    Raises:
        LocalcloudError: it has files and never belonged to localcloud.
    """
    marker = folder / _FILE
    if folder.exists() and not marker.exists() and any(folder.iterdir()):
        raise LocalcloudError(
            f"{folder} holds files but no {_FILE}, so it is not localcloud's: choose another folder"
        )
    if folder.exists():
        shutil.rmtree(folder)
    folder.mkdir(parents=True, mode=0o700)  # it holds logs, zips and secrets of functions
    marker.write_text("{}")


def _list_processes(marked: str) -> list[int]:
    """List the running processes whose environment has a variable with a value."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # another user's, or it has ended
            variables = (place / "environ").read_bytes().split(b"\0")
            if marked.encode() in variables and start_time(int(place.name)):
                found.append(int(place.name))
    return found


def start_time(pid: int) -> int:
    """Return the start time of a process in ticks since boot, 0 if it does not exist.

    Process ids are reused; an id and a start time together are not.
    """
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return 0
    state, *fields = stat.rpartition(") ")[2].split()
    return 0 if state in "ZX" else int(fields[18])
