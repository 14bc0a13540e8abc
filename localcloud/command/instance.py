"""Which localcloud runs on a folder: a small file tells, and is believed only if it is true."""

from __future__ import annotations

import json
import os
import shutil
import signal
import time
import urllib.error
import urllib.request
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from localcloud.errors import LocalcloudError

_FILE = "localcloud.json"
_POLL_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class Instance:
    """A server process; id and start time together name it, whatever happens to the id later."""

    pid: int
    started: int
    endpoint: str

    @property
    def alive(self) -> bool:
        """Whether exactly this process is there."""
        return self.started != 0 and start_time(self.pid) == self.started

    def end(self, seconds: float) -> bool:
        """Ask it to end and wait; kill it after that time. Return whether it ended by itself."""
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
        """Ask its control door: with arguments to do something, without to show something.

        Raises:
            LocalcloudError: it refused, with its sentence.
        """
        body = json.dumps(arguments).encode() if arguments else None
        request = urllib.request.Request(  # noqa: S310 - our own server
            f"{self.endpoint}/_localcloud/{name}", body, {"Content-Type": "application/json"}
        )
        try:
            with urllib.request.urlopen(request) as answer:  # noqa: S310 - our own server
                return json.load(answer)
        except urllib.error.HTTPError as error:
            with error:
                raise LocalcloudError(json.load(error)["error"]) from error


def find_instance(folder: Path) -> Instance | None:
    """Return the server that runs on a folder, None where none does."""
    try:
        instance = Instance(**json.loads((folder / _FILE).read_text()))
    except (OSError, ValueError, TypeError):
        return None
    return instance if instance.alive else None


def note_instance(folder: Path, endpoint: str) -> None:
    """Write down that this process serves a folder, in one step."""
    instance = Instance(os.getpid(), start_time(os.getpid()), endpoint)
    scratch = folder / f"{_FILE}.new"
    scratch.write_text(json.dumps(asdict(instance)))
    scratch.replace(folder / _FILE)


def clear_folder(folder: Path) -> None:
    """Make the folder, empty: what it held belongs to a localcloud that is gone.

    Raises:
        LocalcloudError: it holds something, but was never localcloud's.
    """
    marker = folder / _FILE
    if folder.exists() and not marker.exists() and any(folder.iterdir()):
        raise LocalcloudError(
            f"{folder} holds files but no {_FILE}, so it is not localcloud's: choose another folder"
        )
    if folder.exists():
        shutil.rmtree(folder)
    folder.mkdir(parents=True, mode=0o700)  # logs, zips and secrets of functions are in it
    marker.write_text("{}")


def start_time(pid: int) -> int:
    """Return when a process began, in ticks since the machine did; 0 where it is there no more.

    Ids are used again; id and time together are not.
    """
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return 0
    state, *fields = stat.rpartition(") ")[2].split()
    return 0 if state in "ZX" else int(fields[18])
