"""Subscription filters for functions are refused: localcloud does not run them."""

from __future__ import annotations

from localcloud.door.operations import Call, HttpAnswer, operation
from localcloud.notices import refuse_trigger


@operation("logs", "PutSubscriptionFilter")
def put_subscription_filter(call: Call) -> HttpAnswer:
    """Let moto store a filter, unless it is for a function."""
    if ":lambda:" in call.params["destinationArn"]:
        raise refuse_trigger("InvalidParameterException", "lines of a log group")
    return call.forward()
