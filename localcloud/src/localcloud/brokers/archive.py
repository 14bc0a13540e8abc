"""The archive of loaded classes (AppCDS), which halves the time a cluster takes to start."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

from localcloud.brokers.addresses import choose_network
from localcloud.brokers.cluster import BrokerCluster
from localcloud.brokers.jvm import ARCHIVE, Jvm, load_jvm
from localcloud.brokers.properties import ClusterSpec


def prepare_brokers() -> Jvm:
    """Compile our classes and record the archive if either is missing (15 s, once)."""
    jvm = load_jvm()
    if not (jvm.directory / ARCHIVE).exists():
        with tempfile.TemporaryDirectory(dir=jvm.directory) as scratch:
            spec = ClusterSpec(network=choose_network(), broker_count=1)
            with BrokerCluster(Path(scratch), spec, jvm=replace(jvm, recording=True)):
                pass
            recorded = Path(scratch) / "broker-1" / ARCHIVE
            if recorded.exists():  # without it brokers start slower; the next start records it
                recorded.rename(jvm.directory / ARCHIVE)
    return jvm
