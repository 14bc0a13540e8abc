"""Changes of a cluster: each requires its version and continues in the background."""

from __future__ import annotations

from typing import Any

from localcloud.door.operations import Call, operation
from localcloud.services.kafka.access import find_own_cluster
from localcloud.services.kafka.configurations import find_revision, read_properties
from localcloud.services.kafka.interfaces import add_nodes, drop_nodes, zone_of
from localcloud.services.kafka.lifecycle import begin_update, plug_nodes
from localcloud.services.kafka.listeners import enabled_exporters
from localcloud.services.kafka.model import Cluster, bad_request
from localcloud.services.kafka.processes import listening, running
from localcloud.services.kafka.requests import (
    check_broker_count,
    check_connectivity,
    check_instance_type,
    check_log_group,
    check_security,
    check_volume,
    software_info,
)
from localcloud.services.kafka.versions import compatible_versions


@operation("kafka", "UpdateBrokerCount")
def update_broker_count(call: Call) -> dict[str, Any]:
    """Add brokers; the existing ones keep ids, names and addresses."""
    cluster, count = find_own_cluster(call), call.params["TargetNumberOfBrokerNodes"]
    check_broker_count(count, len(cluster.settings["BrokerNodeGroupInfo"]["ClientSubnets"]))
    if count <= len(cluster.nodes):
        raise bad_request(
            f"The cluster has {len(cluster.nodes)} brokers; specify more than that, not {count}"
        )

    def change(cluster: Cluster) -> None:
        known = len(cluster.nodes)
        add_nodes(cluster, count)
        new = cluster.nodes[known:]
        zones = {node.broker_id: zone_of(cluster, node.subnet_id) for node in new}
        try:
            running(cluster).add_brokers(zones)
        except Exception:
            drop_nodes(cluster, known)
            raise
        plug_nodes(call.cloud, cluster)
        cluster.settings["NumberOfBrokerNodes"] = count

    return begin_update(call, "INCREASE_BROKER_COUNT", {"NumberOfBrokerNodes": count}, change)


@operation("kafka", "UpdateBrokerStorage")
def update_broker_storage(call: Call) -> dict[str, Any]:
    """Grow the volumes; here only the number changes."""
    volumes = call.params["TargetBrokerEBSVolumeInfo"]
    if [volume["KafkaBrokerNodeId"].upper() for volume in volumes] != ["ALL"]:
        raise bad_request("The volumes of all brokers change together: KafkaBrokerNodeId ALL")
    return _grow_volumes(call, volumes[0].get("VolumeSizeGB"), volumes[0])


@operation("kafka", "UpdateStorage")
def update_storage(call: Call) -> dict[str, Any]:
    """Grow the volumes, in the newer form."""
    if call.params.get("StorageMode", "LOCAL") != "LOCAL":
        raise bad_request("localcloud has no tiered storage; StorageMode must be LOCAL")
    return _grow_volumes(call, call.params.get("VolumeSizeGB"), call.params)


@operation("kafka", "UpdateBrokerType")
def update_broker_type(call: Call) -> dict[str, Any]:
    """Change the instance type; here only the name changes."""
    wanted = call.params["TargetInstanceType"]
    settings = find_own_cluster(call).settings
    check_instance_type(wanted, settings["CurrentBrokerSoftwareInfo"]["KafkaVersion"])
    if wanted == settings["BrokerNodeGroupInfo"]["InstanceType"]:
        raise bad_request(f"The brokers are of type {wanted} already")

    def change(cluster: Cluster) -> None:
        cluster.settings["BrokerNodeGroupInfo"]["InstanceType"] = wanted

    return begin_update(call, "UPDATE_BROKER_TYPE", {"InstanceType": wanted}, change)


@operation("kafka", "UpdateClusterConfiguration")
def update_cluster_configuration(call: Call) -> dict[str, Any]:
    """Apply a revision of a configuration to the running brokers."""
    wanted = call.params["ConfigurationInfo"]
    version = find_own_cluster(call).settings["CurrentBrokerSoftwareInfo"]["KafkaVersion"]
    return _configure(
        call, "UPDATE_CLUSTER_CONFIGURATION", {"ConfigurationInfo": wanted}, version, wanted
    )


@operation("kafka", "UpdateClusterKafkaVersion")
def update_cluster_kafka_version(call: Call) -> dict[str, Any]:
    """Change the version that is shown, and the configuration if one is given."""
    software = find_own_cluster(call).settings["CurrentBrokerSoftwareInfo"]
    target = call.params["TargetKafkaVersion"]
    if target not in compatible_versions(software["KafkaVersion"]):
        raise bad_request(f"Kafka {software['KafkaVersion']} cannot be updated to {target}")
    wanted = call.params.get("ConfigurationInfo")
    return _configure(
        call, "UPDATE_CLUSTER_KAFKA_VERSION", {"KafkaVersion": target}, target, wanted
    )


@operation("kafka", "UpdateConnectivity")
def update_connectivity(call: Call) -> dict[str, Any]:
    """Enable or disable VPC connections to the cluster."""
    cluster, wanted = find_own_cluster(call), call.params.get("ConnectivityInfo", {})
    check_connectivity(cluster, wanted)

    def change(cluster: Cluster) -> None:
        group = cluster.settings["BrokerNodeGroupInfo"]
        changed = {**group, "ConnectivityInfo": {**group["ConnectivityInfo"], **wanted}}
        _open_listeners(cluster, {"BrokerNodeGroupInfo": changed})
        plug_nodes(call.cloud, cluster)

    return begin_update(call, "UPDATE_CONNECTIVITY", {"ConnectivityInfo": wanted}, change)


@operation("kafka", "UpdateMonitoring")
def update_monitoring(call: Call) -> dict[str, Any]:
    """Change the metrics in CloudWatch, the exporters of open monitoring, and logging."""
    given = _pick(call, "EnhancedMonitoring", "OpenMonitoring", "LoggingInfo")
    check_log_group(call, given)
    if not given:
        raise bad_request("Specify EnhancedMonitoring, OpenMonitoring or LoggingInfo")
    find_own_cluster(call)

    def change(cluster: Cluster) -> None:
        wanted = enabled_exporters({**cluster.settings, **given})
        if wanted != enabled_exporters(cluster.settings):
            running(cluster).open_exporters(wanted)
        cluster.settings.update(given)
        plug_nodes(call.cloud, cluster)

    return begin_update(call, "UPDATE_MONITORING", given, change)


@operation("kafka", "UpdateSecurity")
def update_security(call: Call) -> dict[str, Any]:
    """Change the ways to log in, by opening and closing listeners."""
    given = _pick(call, "ClientAuthentication", "EncryptionInfo")
    cluster = find_own_cluster(call)
    changes = _merge_security(cluster.settings, given)
    wanted = {**cluster.settings, **changes}
    check_security(wanted)
    if changes["EncryptionInfo"] == cluster.settings["EncryptionInfo"] and (
        listening(wanted) == listening(cluster.settings)
    ):
        raise bad_request(
            "The request does not include any updates to the security setting of the cluster. "
            "Verify the request, then try again."
        )

    def change(cluster: Cluster) -> None:
        _open_listeners(cluster, changes)
        plug_nodes(call.cloud, cluster)

    return begin_update(call, "UPDATE_SECURITY", given, change)


@operation("kafka", "RebootBroker")
def reboot_broker(call: Call) -> dict[str, Any]:
    """Restart brokers one by one."""
    cluster = find_own_cluster(call)
    try:
        nodes = [cluster.node(int(broker_id)) for broker_id in call.params["BrokerIds"]]
    except (LookupError, ValueError) as error:
        raise bad_request(str(error)) from error

    def change(cluster: Cluster) -> None:
        for node in nodes:
            running(cluster).restart(node.broker_id)

    return begin_update(call, "REBOOT_NODE", {}, change)


def _merge_security(settings: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    """Return the changed settings; members that are not given stay: `msk-security-members`."""
    encryption = {**settings["EncryptionInfo"], **given.get("EncryptionInfo", {})}
    encryption["EncryptionInTransit"] = {
        **settings["EncryptionInfo"]["EncryptionInTransit"],
        **encryption["EncryptionInTransit"],
    }
    login = {**settings.get("ClientAuthentication", {}), **given.get("ClientAuthentication", {})}
    return {"ClientAuthentication": login, "EncryptionInfo": encryption}


def _open_listeners(cluster: Cluster, changes: dict[str, Any]) -> None:
    """Change settings, after the brokers were restarted if they need other listeners."""
    wanted = {**cluster.settings, **changes}
    if listening(wanted) != listening(cluster.settings):
        running(cluster).open_listeners(wanted)
    cluster.settings.update(changes)


def _pick(call: Call, *names: str) -> dict[str, Any]:
    return {name: call.params[name] for name in names if name in call.params}


def _grow_volumes(call: Call, size: int | None, shown: dict[str, Any]) -> dict[str, Any]:
    storage = find_own_cluster(call).settings["BrokerNodeGroupInfo"]["StorageInfo"]
    volume = storage["EbsStorageInfo"]
    wanted = {
        "VolumeSize": size or volume["VolumeSize"],
        **{k: shown[k] for k in ("ProvisionedThroughput",) if k in shown},
    }
    check_volume(wanted["VolumeSize"])
    if {**volume, **wanted} == volume or wanted["VolumeSize"] < volume["VolumeSize"]:
        raise bad_request(f"A volume can only grow; it has {volume['VolumeSize']} GiB")
    target = [{"KafkaBrokerNodeId": "ALL", "VolumeSizeGB": wanted["VolumeSize"]}]
    return begin_update(
        call,
        "UPDATE_BROKER_STORAGE",
        {"BrokerEBSVolumeInfo": target},
        lambda _: volume.update(wanted),
    )


def _configure(
    call: Call,
    kind: str,
    target: dict[str, Any],
    version: str,
    configuration: dict[str, Any] | None,
) -> dict[str, Any]:
    current = find_own_cluster(call).settings["CurrentBrokerSoftwareInfo"]
    software = {**current, **software_info(call, version, configuration)}
    properties = None
    if configuration is not None:
        properties = read_properties(find_revision(call, configuration)[1].properties)

    def change(cluster: Cluster) -> None:
        if properties is not None:
            running(cluster).apply(properties)
            cluster.properties = properties
        cluster.settings["CurrentBrokerSoftwareInfo"] = software

    return begin_update(call, kind, target, change)
