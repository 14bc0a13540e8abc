"""Subscriptions of functions to topics are refused: localcloud does not run them."""

from __future__ import annotations

from localcloud.door.operations import Call, HttpAnswer, operation
from localcloud.notices import refuse_trigger


@operation("sns", "Subscribe")
def subscribe(call: Call) -> HttpAnswer:
    """Let moto store a subscription, unless it is a function's."""
    if call.params.get("Protocol") == "lambda":
        raise refuse_trigger("InvalidParameter", "messages of a topic")
    return call.forward()
