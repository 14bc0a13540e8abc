"""The exporters of open monitoring: Prometheus reads a broker's JMX metrics and its machine's.

The JMX exporter runs inside the broker, with its default rules, as MSK's does. The node exporter is
a process of its own beside each broker; all of them show this one machine.
"""

from __future__ import annotations

import shutil
import subprocess
import urllib.request
from pathlib import Path
from typing import Final

from localcloud.children import Child, supervised
from localcloud.jars import JARS, find_jars

EXPORTER_PORTS: Final = {"JMX": 11001, "NODE": 11002}
_SCRAPE_SECONDS = 10
_PROGRAMS = ("prometheus-node-exporter", "node_exporter")  # Debian's name, and the project's
NO_NODE_EXPORTER: Final = (
    "nothing listens on 11002: install the node exporter (apt install prometheus-node-exporter), "
    "so that localcloud finds it on PATH, and start localcloud again"
)


def jmx_flag(home: Path, address: str) -> str:
    """Return the flag of a JVM that serves its metrics at an address, by the default rules."""
    rules = home / "jmx-exporter.yml"
    rules.write_text("{}\n")
    (agent,) = find_jars(JARS / "exporter")
    return f"-javaagent:{agent}={address}:{EXPORTER_PORTS['JMX']}:{rules}"


def scrape_jmx(address: str) -> str:
    """Return what the JMX exporter at an address shows; raise OSError if it does not answer."""
    url = f"http://{address}:{EXPORTER_PORTS['JMX']}/metrics"
    with urllib.request.urlopen(url, timeout=_SCRAPE_SECONDS) as answer:
        return str(answer.read().decode())


def find_node_exporter() -> str | None:
    """Return the path of the node exporter, or None where it is not installed."""
    return next((path for name in _PROGRAMS if (path := shutil.which(name))), None)


def start_node_exporter(home: Path, address: str) -> Child | None:
    """Start the node exporter at an address, or nothing where it is not installed."""
    program = find_node_exporter()
    if program is None:
        return None
    listen = f"--web.listen-address={address}:{EXPORTER_PORTS['NODE']}"
    with (home / "node-exporter.log").open("ab") as log:
        return Child(supervised([program, listen]), stdout=log, stderr=subprocess.STDOUT)
