"""Event source mappings for self-managed Kafka; those of other sources are refused."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import Any

from localcloud.children import describe_process
from localcloud.cloud import Cloud
from localcloud.door.constraints import check_params
from localcloud.door.control import describe
from localcloud.door.errors import AwsError
from localcloud.door.operations import Call, HttpAnswer, operation
from localcloud.functions import EventSourceMapping, PollerProcess
from localcloud.metrics import Metric, gauge
from localcloud.services.lambda_.execution import (
    find_function,
    name_missing_hop,
    poller_variables,
)
from localcloud.services.lambda_.mapping_rules import check_record
from localcloud.services.lambda_.qualifiers import find_qualifier

_DEFAULTS: dict[str, Any] = {"BatchSize": 100, "SourceAccessConfigurations": []}
_NOT_KEPT = frozenset({"Enabled", "FunctionName", "Tags", "UUID"})
_making = threading.Lock()


class Mappings:
    """The mappings of an account and region."""

    def __init__(self) -> None:
        self.by_id: dict[str, EventSourceMapping] = {}

    def stop(self) -> None:
        """Stop all polling."""
        with ThreadPoolExecutor() as pool:  # each may have a call to finish
            list(pool.map(EventSourceMapping.stop, list(self.by_id.values())))


@operation("lambda", "CreateEventSourceMapping")
def create_event_source_mapping(call: Call) -> dict[str, Any]:
    """Start polling; the mapping is Enabled when the poller is a member of its group."""
    check_params(call, "ValidationException")
    if "SelfManagedEventSource" not in call.params:
        if ":kafka:" in call.params.get("EventSourceArn", ""):
            raise _refuse("mappings of MSK clusters are not supported, use SelfManagedEventSource")
        source = call.params.get("EventSourceArn") or "Amazon MQ, DocumentDB or none"
        raise _refuse(f"mappings of {source} are not supported, only of SelfManagedEventSource")
    function_arn = _name_function(call)
    identity = str(uuid.uuid4())
    arn = f"arn:aws:lambda:{call.region}:{call.account}:event-source-mapping:{identity}"
    record = {
        **_DEFAULTS,
        "SelfManagedKafkaEventSourceConfig": {"ConsumerGroupId": identity},
        **_read_params(call),
        "UUID": identity,
        "EventSourceMappingArn": arn,
        "FunctionArn": function_arn,
    }
    check_record(record)
    mappings = _find_mappings(call)
    with _making:
        _check_new(mappings, record)
        mapping = EventSourceMapping(record, _starter(call))
        mapping.tags = dict(call.params.get("Tags") or {})
        mappings.by_id[identity] = mapping
    return mapping.create(enabled=call.params.get("Enabled", True))


def _name_function(call: Call) -> str:
    """Return the ARN of a function that exists, with the version or alias that the call names.

    A mapping follows its alias to another version.
    """
    arn = find_function(call).unqualified_arn
    qualifier = find_qualifier(call)
    return f"{arn}:{qualifier}" if qualifier else arn


@operation("lambda", "GetEventSourceMapping")
def get_event_source_mapping(call: Call) -> dict[str, Any]:
    """Describe a mapping with its state and the result of its last call."""
    return _find_mapping(call).view()


@operation("lambda", "ListEventSourceMappings")
def list_event_source_mappings(call: Call) -> dict[str, Any]:
    """List the mappings, or those of one function."""
    views = [mapping.view() for mapping in _find_mappings(call).by_id.values()]
    if call.params.get("FunctionName"):
        arn = _name_function(call)
        views = [view for view in views if view["FunctionArn"] == arn]
    return {"EventSourceMappings": [] if call.params.get("EventSourceArn") else views}


@operation("lambda", "UpdateEventSourceMapping")
def update_event_source_mapping(call: Call) -> dict[str, Any]:
    """Change the given settings; the poller starts again at the group's offsets."""
    check_params(call, "ValidationException")
    mapping = _find_mapping(call)
    record = mapping.record | _read_params(call)
    if "FunctionName" in call.params:
        record["FunctionArn"] = _name_function(call)
    check_record(record)
    return mapping.change(record, enabled=call.params.get("Enabled"))


@operation("lambda", "DeleteEventSourceMapping")
def delete_event_source_mapping(call: Call) -> dict[str, Any]:
    """Stop polling; the mapping is gone when the poller has ended."""
    mapping = _find_mapping(call)
    by_id = _find_mappings(call).by_id
    return mapping.delete(lambda: by_id.__delitem__(call.params["UUID"]))


@operation("lambda", "ListTags")
def list_tags(call: Call) -> dict[str, Any] | HttpAnswer:
    """List the tags of a mapping."""
    mapping = _find_tagged(call)
    return {"Tags": mapping.tags} if mapping else call.forward()


@operation("lambda", "TagResource")
def tag_resource(call: Call) -> dict[str, Any] | HttpAnswer:
    """Set tags of a mapping."""
    mapping = _find_tagged(call)
    if mapping is None:
        return call.forward()
    mapping.tags |= call.params["Tags"]
    return {}


@operation("lambda", "UntagResource")
def untag_resource(call: Call) -> dict[str, Any] | HttpAnswer:
    """Remove tags of a mapping."""
    mapping = _find_tagged(call)
    if mapping is None:
        return call.forward()
    for key in call.params["TagKeys"]:
        mapping.tags.pop(key, None)
    return {}


@gauge
def measure_lag(cloud: Cloud) -> Iterator[tuple[Metric, float]]:
    """Yield the records that wait for the function of each mapping that is polled."""
    for account, region, mappings in cloud.states(Mappings):
        for mapping in list(mappings.by_id.values()):
            if mapping.lag is not None:
                name = mapping.record["FunctionArn"].split(":")[6]
                dimensions = {"FunctionName": name}
                yield Metric(account, region, "AWS/Lambda", "OffsetLag", dimensions), mapping.lag


@describe("mappings")
def describe_mappings(cloud: Cloud) -> list[dict[str, Any]]:
    """List the mappings with their pollers and the results of their last calls."""
    return [
        {
            "account": account,
            "uuid": view["UUID"],
            "function": view["FunctionArn"].split(":")[6],
            "topics": view["Topics"],
            "state": view["State"],
            "result": view["LastProcessingResult"],
            **_describe_poller(mapping.poller),
        }
        for account, _, mappings in cloud.states(Mappings)
        for mapping in list(mappings.by_id.values())
        for view in [mapping.view()]
    ]


def _describe_poller(poller: PollerProcess | None) -> dict[str, Any]:
    return describe_process(poller.pid, poller.start_seconds) if poller else {}


def _find_mappings(call: Call) -> Mappings:
    with _making:
        known = any(
            (account, region) == (call.account, call.region)
            for account, region, _ in call.cloud.states(Mappings)
        )
        mappings = call.cloud.state(Mappings, call.account, call.region)
        if not known:
            call.cloud.on_stop(mappings.stop)
        return mappings


def _find_mapping(call: Call) -> EventSourceMapping:
    """Return the mapping that a call names."""
    mapping = _find_mappings(call).by_id.get(call.params["UUID"])
    if mapping is None:
        raise AwsError("ResourceNotFoundException", "The resource you requested does not exist.")
    return mapping


def _find_tagged(call: Call) -> EventSourceMapping | None:
    """Return the mapping that a tagging call names, None for a resource that moto has."""
    arn = call.params["Resource"]
    mapping = _find_mappings(call).by_id.get(arn.rsplit(":", 1)[-1])
    if mapping is None and ":event-source-mapping:" in arn:
        raise AwsError("ResourceNotFoundException", f"The resource {arn} does not exist")
    return mapping


def _read_params(call: Call) -> dict[str, Any]:
    given = {name: value for name, value in call.params.items() if name not in _NOT_KEPT}
    if isinstance(start := given.get("StartingPositionTimestamp"), datetime):
        given["StartingPositionTimestamp"] = start.timestamp()
    return {name: value for name, value in given.items() if value is not None}


def _check_new(mappings: Mappings, record: dict[str, Any]) -> None:
    same = ("FunctionArn", "SelfManagedEventSource", "Topics")
    for identity, mapping in mappings.by_id.items():
        if all(mapping.record[name] == record[name] for name in same):
            raise AwsError(
                "ResourceConflictException",
                "An event source mapping with the same brokers, topic and function already "
                f"exists: {identity}",
            )


def _starter(call: Call) -> Any:
    """Return a function that starts pollers for this account's mappings."""
    cloud, account, region = call.cloud, call.account, call.region

    def start(record: dict[str, Any], on_report: Any) -> PollerProcess:
        variables, ca_files = poller_variables(cloud, record)
        job = {
            "mapping": record,
            "service_account": account,
            "region": region,
            "ca_files": ca_files,
        }
        log = cloud.folder / "logs" / f"mapping-{record['UUID']}.log"

        def pass_on(process: PollerProcess, report: dict[str, str]) -> None:
            on_report(process, name_missing_hop(cloud, record, report))

        return PollerProcess(job, variables, log, pass_on)

    return start


def _refuse(message: str) -> AwsError:
    return AwsError("InvalidParameterValueException", message)
