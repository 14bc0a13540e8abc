"""The Kafka versions that can be requested; all run the same broker."""

from __future__ import annotations

from typing import Any

from localcloud.door.operations import Call, operation
from localcloud.services.kafka.access import find_cluster
from localcloud.services.kafka.model import PAGES

VERSIONS = (
    "3.6.0",
    "3.7.x",
    "3.7.x.kraft",
    "3.8.x",
    "3.8.x.kraft",
    "3.9.x",
    "3.9.x.kraft",
    "4.0.x.kraft",
    "4.1.x.kraft",
)


@operation("kafka", "ListKafkaVersions")
def list_kafka_versions(call: Call) -> dict[str, Any]:
    """List all versions."""
    page, more = PAGES.cut(call, list(VERSIONS))
    return {"KafkaVersions": [{"Version": name, "Status": "ACTIVE"} for name in page], **more}


@operation("kafka", "GetCompatibleKafkaVersions")
def get_compatible_kafka_versions(call: Call) -> dict[str, Any]:
    """List the versions that a cluster, or each version, can be updated to."""
    sources: tuple[str, ...] = VERSIONS
    if "ClusterArn" in call.params:
        software = find_cluster(call).settings["CurrentBrokerSoftwareInfo"]
        sources = (software["KafkaVersion"],)
    return {
        "CompatibleKafkaVersions": [
            {"SourceVersion": source, "TargetVersions": compatible_versions(source)}
            for source in sources
        ]
    }


def compatible_versions(source: str) -> list[str]:
    """Return the later versions with the same metadata mode, which MSK does not change."""
    later = VERSIONS[VERSIONS.index(source) + 1 :]
    return [name for name in later if has_controllers(name) == has_controllers(source)]


def has_controllers(version: str) -> bool:
    """Return whether a cluster of a version has controllers of KRaft, not ZooKeeper."""
    return version.endswith(".kraft")
