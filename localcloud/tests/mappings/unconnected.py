"""Mappings that never get to a broker, and what the API answers about them."""

from __future__ import annotations

import pytest

from localcloud.testing import deploy, wait_until
from tests.refusals import is_gone

NOWHERE = ["127.0.0.1:9"]


@pytest.fixture(scope="module")
def function(client):
    """A function for mappings that never get to a broker."""
    return deploy(client)


@pytest.fixture
def create(client, function):
    """Create a mapping that is disabled unless told otherwise; all are deleted in the end."""
    lambda_, made = client("lambda"), []

    def make(**changes):
        servers = changes.pop("servers", [f"127.0.0.1:{len(made) + 10}"])
        values = {
            "FunctionName": function,
            "Topics": ["orders"],
            "StartingPosition": "LATEST",
            "Enabled": False,
            "SelfManagedEventSource": {"Endpoints": {"KAFKA_BOOTSTRAP_SERVERS": servers}},
        }
        view = lambda_.create_event_source_mapping(**(values | changes))
        made.append(view["UUID"])
        return view

    yield make
    for identity in made:
        if identity in {
            m["UUID"] for m in lambda_.list_event_source_mappings()["EventSourceMappings"]
        }:
            settle(client, identity)
            lambda_.delete_event_source_mapping(UUID=identity)
            wait_gone(client, identity)


def settle(client, identity):
    """Wait until a mapping is in a state that lasts, and show it."""
    get = client("lambda").get_event_source_mapping
    wait_until("a lasting state", lambda: get(UUID=identity)["State"] in {"Enabled", "Disabled"})
    return get(UUID=identity)


def wait_gone(client, identity):
    """Wait until a mapping is not found."""
    get = client("lambda").get_event_source_mapping
    wait_until("the mapping is gone", lambda: is_gone(get, UUID=identity))
