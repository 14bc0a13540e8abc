"""Connection notifications: what happens to endpoints of a service is published to a topic.

AWS PrivateLink Guide, "Receive alerts for endpoint service events"; assumption
`endpoint-notifications`.
"""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass, field
from typing import Any

from moto.ec2.utils import random_resource_id

from localcloud.cloud import Cloud
from localcloud.door.errors import AwsError
from localcloud.door.operations import Call, operation
from localcloud.network import inventory
from localcloud.notices import NotPublishedError, check_publisher, publish

_EVENTS = ("Accept", "Connect", "Reject")
_PUBLISHER = "vpce.amazonaws.com"
_log = logging.getLogger(__name__)


@dataclass(slots=True)
class Notification:
    """A topic that gets the events of an endpoint service."""

    id: str
    service_id: str
    topic: str
    events: list[str]


@dataclass(slots=True)
class Notifications:
    """The connection notifications of an account and region, by id."""

    by_id: dict[str, Notification] = field(default_factory=dict)

    def find(self, notification_id: str) -> Notification:
        """Return a notification.

        Raises:
            AwsError: it does not exist.
        """
        if notification_id not in self.by_id:
            raise AwsError(
                "InvalidConnectionNotification",
                f"The connection notification '{notification_id}' does not exist",
            )
        return self.by_id[notification_id]


@operation("ec2", "CreateVpcEndpointConnectionNotification")
def create_notification(call: Call) -> dict[str, Any]:
    """Create a notification of a service; its topic must let the service publish."""
    service_id = call.params.get("ServiceId")
    if service_id is None:
        raise AwsError("InvalidParameter", "localcloud has notifications of services only")
    if service_id not in inventory.endpoint_services(call.account, call.region):
        raise AwsError(
            "InvalidVpcEndpointServiceId.NotFound",
            f"The VpcEndpointService Id '{service_id}' does not exist",
        )
    made = Notification(
        f"vpce-nfn-{random_resource_id(17)}",
        service_id,
        call.params["ConnectionNotificationArn"],
        call.params["ConnectionEvents"],
    )
    _check(call, made)
    _state(call).by_id[made.id] = made
    return {"ConnectionNotification": _describe_notification(made)}


@operation("ec2", "DescribeVpcEndpointConnectionNotifications")
def describe_notifications(call: Call) -> dict[str, Any]:
    """Describe one notification or all."""
    state, one = _state(call), call.params.get("ConnectionNotificationId")
    found = [state.find(one)] if one else list(state.by_id.values())
    return {"ConnectionNotificationSet": [_describe_notification(each) for each in found]}


@operation("ec2", "ModifyVpcEndpointConnectionNotification")
def modify_notification(call: Call) -> dict[str, Any]:
    """Change the topic or the events of a notification."""
    old = _state(call).find(call.params["ConnectionNotificationId"])
    new = Notification(
        old.id,
        old.service_id,
        call.params.get("ConnectionNotificationArn", old.topic),
        call.params.get("ConnectionEvents", old.events),
    )
    _check(call, new)
    _state(call).by_id[new.id] = new
    return {"ReturnValue": True}


@operation("ec2", "DeleteVpcEndpointConnectionNotifications")
def delete_notifications(call: Call) -> dict[str, Any]:
    """Delete notifications."""
    state = _state(call)
    for notification_id in call.params["ConnectionNotificationIds"]:
        del state.by_id[state.find(notification_id).id]
    return {"Unsuccessful": []}


def notify(cloud: Cloud, owner: Any, service: Any, endpoint: Any, event: str) -> None:
    """Publish what happened to an endpoint of a service to the topics that want to know it."""
    account, region = owner.account_id, owner.region_name
    message = {"event": event, "vpcEndpointId": endpoint.id, "serviceId": service.id}
    for each in list(cloud.state(Notifications, account, region).by_id.values()):
        if each.service_id != service.id or event not in each.events:
            continue
        try:
            context = _context(account, region, service.id)
            subject = f"VPC endpoint {event}"
            publish(each.topic, _PUBLISHER, context, subject, json.dumps(message))
        except NotPublishedError as error:
            _log.warning("the notification %s was not delivered: %s", each.id, error)


def _check(call: Call, notification: Notification) -> None:
    unknown = sorted({*notification.events} - {*_EVENTS})
    if unknown or not notification.events:
        raise AwsError(
            "InvalidParameter",
            f"localcloud knows the events {', '.join(_EVENTS)}, not {', '.join(unknown) or 'none'}",
        )
    context = _context(call.account, call.region, notification.service_id)
    try:
        check_publisher(notification.topic, _PUBLISHER, context)
    except NotPublishedError as error:
        raise AwsError("InvalidParameter", f"The notification cannot be sent: {error}") from error


def _context(account: str, region: str, service_id: str) -> dict[str, str]:
    arn = f"arn:aws:ec2:{region}:{account}:vpc-endpoint-service/{service_id}"
    return {"aws:SourceAccount": account, "aws:SourceArn": arn}


def _describe_notification(notification: Notification) -> dict[str, Any]:
    return {
        "ConnectionNotificationId": notification.id,
        "ServiceId": notification.service_id,
        "ConnectionNotificationType": "Topic",
        "ConnectionNotificationArn": notification.topic,
        "ConnectionEvents": notification.events,
        "ConnectionNotificationState": "Enabled",
    }


def _state(call: Call) -> Notifications:
    return call.cloud.state(Notifications, call.account, call.region)
