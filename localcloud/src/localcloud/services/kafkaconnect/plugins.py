"""Custom plugins: a zip or a jar on S3, which is copied when the plugin is created."""

from __future__ import annotations

import hashlib
import io
import zipfile
from typing import Any

from moto.s3.exceptions import S3ClientError
from moto.s3.models import s3_backends

from localcloud.door.operations import Call
from localcloud.services.kafkaconnect.model import (
    CustomPlugin,
    KafkaConnect,
    bad_request,
    check_new,
    connect_operation,
    cut_page,
    find,
    make_arn,
)


@connect_operation("CreateCustomPlugin")
def create_custom_plugin(call: Call, state: KafkaConnect) -> dict[str, Any]:
    """Copy the object and create the plugin."""
    params = call.params
    check_new([each.name for each in state.plugins.values()], params["name"], "custom plugin")
    content = _read_object(call, params["location"]["s3Location"])
    if not zipfile.is_zipfile(io.BytesIO(content)):
        raise bad_request(f"The file of the custom plugin is no {params['contentType']} file")
    arn = make_arn(call, "custom-plugin", params["name"])
    folder = call.cloud.folder / "kafkaconnect/plugins"
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{arn.rpartition('/')[2]}.{params['contentType'].lower()}"
    file.write_bytes(content)
    md5 = hashlib.md5(content, usedforsecurity=False).hexdigest()
    tags = params.get("tags", {})
    state.plugins[arn] = CustomPlugin(arn, params["name"], params, tags, file, len(content), md5)
    return {
        "customPluginArn": arn,
        "customPluginState": "CREATING",
        "name": params["name"],
        "revision": 1,
    }


@connect_operation("DescribeCustomPlugin")
def describe_custom_plugin(call: Call, state: KafkaConnect) -> dict[str, Any]:
    """Describe a plugin."""
    return _show(find(state.plugins, call.params["customPluginArn"]))


@connect_operation("ListCustomPlugins")
def list_custom_plugins(call: Call, state: KafkaConnect) -> dict[str, Any]:
    """List the plugins, by a prefix of their names."""
    page, more = cut_page(call, list(state.plugins.values()), lambda each: each.name)
    return {"customPlugins": [_show(each) for each in page], **more}


@connect_operation("DeleteCustomPlugin")
def delete_custom_plugin(call: Call, state: KafkaConnect) -> dict[str, Any]:
    """Delete a plugin that no connector has."""
    plugin = find(state.plugins, call.params["customPluginArn"])
    for connector in state.connectors.values():
        used = [each["customPlugin"]["customPluginArn"] for each in connector.settings["plugins"]]
        if plugin.arn in used:
            raise bad_request(f"The custom plugin is used by the connector {connector.arn}")
    del state.plugins[plugin.arn]
    plugin.file.unlink()
    return {"customPluginArn": plugin.arn, "customPluginState": "DELETING"}


def _read_object(call: Call, place: dict[str, Any]) -> bytes:
    """Return an object of S3; that the caller may read it was judged before."""
    bucket, key = place["bucketArn"].rpartition(":")[2], place["fileKey"]
    try:
        found = s3_backends[call.account]["aws"].get_object(bucket, key, place.get("objectVersion"))
    except S3ClientError as error:
        raise bad_request(f"The bucket {bucket} cannot be read: {error}") from error
    if found is None:
        raise bad_request(f"There is no object {key} in the bucket {bucket}")
    return bytes(found.value)


def _show(plugin: CustomPlugin) -> dict[str, Any]:
    asked = plugin.asked
    return {
        "creationTime": plugin.created,
        "customPluginArn": plugin.arn,
        "customPluginState": "ACTIVE",
        "description": asked.get("description", ""),
        "name": plugin.name,
        "latestRevision": {
            "contentType": asked["contentType"],
            "creationTime": plugin.created,
            "description": asked.get("description", ""),
            "fileDescription": {"fileMd5": plugin.md5, "fileSize": plugin.size},
            "location": asked["location"],
            "revision": 1,
        },
    }
