"""The jars of peers: released artefacts, which Maven fetches once."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Final

import pyspark

from localcloud.jars import find_jars
from systems.place import ROOT

SINK_POM: Final = Path(__file__).with_name("iceberg_sink.xml")
FLINK_POM: Final = Path(__file__).with_name("flink.xml")
_SINK: Final = ROOT / ".cache/bench/iceberg-sink"
_COPY: Final = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies"


def fetch_jars(pom: Path, folder: Path) -> None:
    """Fetch the jars of a pom into a folder, unless it is there and not older than the pom."""
    if folder.is_dir():
        if folder.stat().st_mtime > pom.stat().st_mtime:
            return
        shutil.rmtree(folder)
    part = folder.with_suffix(".part")
    words = ["mvn", "--quiet", "--batch-mode", "--file", str(pom), _COPY]
    options = ("-DincludeScope=runtime", f"-DoutputDirectory={part}")
    subprocess.run([*words, *options], check=True)
    part.rename(folder)
    folder.touch()


def find_plugins(folder: Path) -> Path:
    """Return a folder with the plugin, and the client of Hadoop that its catalog needs."""
    fetch_jars(SINK_POM, _SINK)
    hadoop = Path(pyspark.__file__).parent.glob("jars/hadoop-client-*.jar")
    plugin = folder / "plugins/iceberg"
    plugin.mkdir(parents=True)
    for jar in (*find_jars(_SINK), *hadoop):
        (plugin / jar.name).symlink_to(jar)
    return plugin.parent
