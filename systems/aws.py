"""A localcloud that runs until it is killed: `python -m systems.aws FOLDER`.

It prints its endpoint. Each of its calls is a line of FOLDER/calls.jsonl.
"""

from __future__ import annotations

import sys
import threading
from pathlib import Path

from localcloud.door.server import start_server


def main() -> None:
    """Serve until killed."""
    server = start_server(Path(sys.argv[1]), 0)
    print(server.cloud.endpoint, flush=True)
    threading.Event().wait()


if __name__ == "__main__":
    main()
