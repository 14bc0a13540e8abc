"""The server process behind `python -m localcloud up`."""

from __future__ import annotations

import logging
import signal
import sys
import threading
from pathlib import Path

from localcloud.command.instance import note_instance
from localcloud.door.server import start_server
from localcloud.errors import LocalcloudError


def main(folder: Path, port: int) -> int:
    """Serve until SIGTERM or SIGINT, then stop everything that was started."""
    logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    ended = threading.Event()
    for name in (signal.SIGTERM, signal.SIGINT):
        signal.signal(name, lambda *_: ended.set())
    try:
        server = start_server(folder, port)
    except LocalcloudError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    note_instance(folder, server.cloud.endpoint)
    ended.wait()
    server.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), int(sys.argv[2])))
