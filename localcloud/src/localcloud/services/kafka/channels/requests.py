"""The checks of CreateChannel's and UpdateChannel's parameters."""

from __future__ import annotations

import re
from typing import Any

from moto.logs.models import logs_backends

from localcloud.door.operations import Call
from localcloud.services.kafka.channels.keys import check_template
from localcloud.services.kafka.channels.model import BUCKET, ICEBERG
from localcloud.services.kafka.model import Cluster, bad_request

_NAME = re.compile(r"[a-zA-Z0-9._-]{1,64}")
_EXPRESS = "express."
_FRESHNESS = range(300, 901)
_FORMATS = {
    ICEBERG: ("JSON", "JSON_SCHEMA_GSR"),
    BUCKET: ("JSON", "BYTE_ARRAY", "STRING"),
}


def check_channel(call: Call, cluster: Cluster) -> None:
    """Raise AwsError for a channel that MSK does not create, or that localcloud does not."""
    params = call.params
    if not _NAME.fullmatch(params["ChannelName"]):
        raise _invalid("channelName", "up to 64 letters, digits and . _ -")
    if not cluster.settings["BrokerNodeGroupInfo"]["InstanceType"].startswith(_EXPRESS):
        raise bad_request("Channels need a provisioned cluster with Express brokers")
    if cluster.state != "ACTIVE":
        raise bad_request(f"The cluster must be ACTIVE for this; it is {cluster.state}")
    kinds = [kind for kind in (ICEBERG, BUCKET) if params.get(kind)]
    if len(kinds) != 1:
        raise bad_request(f"Specify either {ICEBERG} or {BUCKET}")
    if "EncryptionConfiguration" in params:
        raise bad_request("localcloud encrypts channels by no key of yours")
    check_freshness(params[kinds[0]])
    _check_source(params["TopicConfigurationList"], cluster, kinds[0])
    if kinds[0] == ICEBERG:
        _check_table(params[ICEBERG], call)
    else:
        check_template(params[BUCKET]["Storage"])
    _check_logging(call, params.get("LoggingInfo", {}))


def check_freshness(destination: dict[str, Any]) -> None:
    """Raise AwsError for a freshness out of its range."""
    if destination.get("DataFreshnessInSeconds", 600) not in _FRESHNESS:
        raise _invalid("dataFreshnessInSeconds", "300 to 900")


def _check_source(topics: list[dict[str, Any]], cluster: Cluster, kind: str) -> None:
    if len(topics) != 1:
        raise _invalid("topicConfigurationList", "exactly one topic")
    (source,) = topics
    start = cluster.arn.replace(":cluster/", ":topic/") + "/"
    if not re.fullmatch(re.escape(start) + r"[a-zA-Z0-9._-]{1,249}", source["TopicArn"]):
        raise _invalid("topicArn", f"{start}TOPIC")
    converter = source["RecordConverter"]["ValueConverter"]
    if converter not in _FORMATS[kind]:
        raise _invalid("valueConverter", f"one of {', '.join(_FORMATS[kind])} with {kind}")
    if (kind == ICEBERG and converter == "JSON") != bool(source.get("RecordSchema")):
        raise _invalid("recordSchema", "a schema for JSON in an Iceberg table, and no other")


def _check_table(given: dict[str, Any], call: Call) -> None:
    if not given["AppendOnly"]:
        raise _invalid("appendOnly", "true")
    if given["SchemaEvolution"].get("EnableSchemaEvolution") is not False:
        raise _invalid("enableSchemaEvolution", "false: schema evolution is not supported")
    if given["TableCreation"].get("EnableTableCreation") is not True:
        raise _invalid("enableTableCreation", "true")
    if len(given["DestinationTableList"]) != 1:
        raise _invalid("destinationTableList", "exactly one table")
    (table,) = given["DestinationTableList"]
    if not (table.get("DestinationDatabaseName") and table.get("DestinationTableName")):
        raise _invalid("destinationTableList", "a database and a table")
    if len(table.get("PartitionSpec", {}).get("SourceList", [])) != 1:
        raise _invalid("sourceList", "exactly one column")
    catalog = given.get("Catalog", {})
    place = f"{call.region}:{call.account}"
    bucket = re.fullmatch(
        rf"arn:aws:s3tables:{call.region}:\d{{12}}:bucket/([a-z0-9_-]+)",
        catalog.get("WarehouseLocation", ""),
    )
    if bucket is None:
        raise _invalid("warehouseLocation", "the ARN of a table bucket in the cluster's Region")
    wanted = f"arn:aws:glue:{place}:catalog/s3tablescatalog/{bucket[1]}"
    if catalog.get("CatalogArn") != wanted:
        raise _invalid("catalogArn", wanted)


def _check_logging(call: Call, given: dict[str, Any]) -> None:
    for other in ("Firehose", "S3"):
        if given.get(other, {}).get("Enabled"):
            raise bad_request(f"localcloud sends the logs of channels to no {other}")
    watched = given.get("CloudWatchLogs", {})
    group = watched.get("LogGroup")
    if watched.get("Enabled") and group not in logs_backends[call.account][call.region].groups:
        raise bad_request(f"The log group {group} doesn't exist")


def _invalid(name: str, expected: str) -> Exception:
    return bad_request(f"InvalidParameter: {name}; expected {expected}")
