"""The operations on channels."""

from __future__ import annotations

from typing import Any

from localcloud.door.errors import AwsError
from localcloud.door.operations import Call, operation
from localcloud.services.kafka.access import find_own_cluster
from localcloud.services.kafka.channels.delivery import begin_channel
from localcloud.services.kafka.channels.model import BUCKET, ICEBERG, Channel, Channels
from localcloud.services.kafka.channels.requests import check_channel, check_freshness
from localcloud.services.kafka.model import PAGES, bad_request, new_identity, not_found, now

_UPDATES = {"IcebergDestinationUpdate": ICEBERG, "S3DestinationUpdate": BUCKET}


@operation("kafka", "CreateChannel")
def create_channel(call: Call) -> dict[str, Any]:
    """Create a channel from one topic of a cluster to one destination."""
    cluster = find_own_cluster(call)
    check_channel(call, cluster)
    name = call.params["ChannelName"]
    arn = f"{cluster.arn.replace(':cluster/', ':channel/')}/{name}"
    channels = _state(call).by_arn
    if arn in channels:
        raise AwsError("ConflictException", f"A channel named {name} already exists")
    channels[arn] = Channel(arn, new_identity()[0], cluster, call.params, now())
    begin_channel(call.cloud, channels[arn])
    return {"ChannelArn": arn}


@operation("kafka", "DescribeChannel")
def describe_channel(call: Call) -> dict[str, Any]:
    """Describe a channel."""
    channel = _find(call)
    names = (BUCKET, ICEBERG, "LoggingInfo", "Tags", "TopicConfigurationList")
    shown = {name: channel.asked[name] for name in names if name in channel.asked}
    info = {"StateInfo": channel.state_info} if channel.state_info else {}
    return {**_show(channel), **shown, **info}


@operation("kafka", "ListChannels")
def list_channels(call: Call) -> dict[str, Any]:
    """List the channels of a cluster, all or those of one topic."""
    cluster, topic = find_own_cluster(call), call.params.get("TopicNameFilter")
    found = [
        _show(channel)
        for channel in _state(call).by_arn.values()
        if channel.cluster is cluster and topic in (None, channel.topic)
    ]
    page, more = PAGES.cut(call, found)
    return {"Channels": page, **more}


@operation("kafka", "UpdateChannel")
def update_channel(call: Call) -> dict[str, Any]:
    """Change how fresh the data of a channel's destination is; nothing else can change."""
    channel = _find(call)
    given = [name for name in _UPDATES if name in call.params]
    if len(given) != 1 or _UPDATES[given[0]] not in channel.asked:
        raise bad_request("Specify the update of the channel's own kind of destination")
    check_freshness(call.params[given[0]])
    channel.destination.update(call.params[given[0]])
    return {"ChannelArn": channel.arn}


@operation("kafka", "DeleteChannel")
def delete_channel(call: Call) -> dict[str, Any]:
    """Delete a channel; what it has delivered stays."""
    channel = _find(call)
    channel.ended.set()
    del _state(call).by_arn[channel.arn]
    return {"ChannelArn": channel.arn}


def _state(call: Call) -> Channels:
    return call.cloud.state(Channels, call.account, call.region)


def _find(call: Call) -> Channel:
    cluster, arn = find_own_cluster(call), call.params["ChannelArn"]
    channel = _state(call).by_arn.get(arn)
    if channel is None or channel.cluster is not cluster:
        raise not_found(arn)
    return channel


def _show(channel: Channel) -> dict[str, Any]:
    return {
        "ChannelArn": channel.arn,
        "ChannelName": channel.name,
        "Status": channel.state,
        "DestinationType": channel.kind,
        "CreationTime": channel.created_at,
    }
