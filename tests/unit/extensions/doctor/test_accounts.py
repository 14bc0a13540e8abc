"""The account of credentials, and answers of AWS that a resource is missing or a call is denied."""

from __future__ import annotations

import pytest
from botocore.exceptions import (
    ClientError,
    EndpointConnectionError,
    IncompleteReadError,
    ReadTimeoutError,
    ResponseStreamingError,
)

from penstock.extensions.doctor import accounts
from penstock.extensions.doctor.accounts import Accounts, World, open_accounts
from penstock.extensions.doctor.deployment import Deployment
from penstock.extensions.doctor.findings import NotSeenError, Side

_PRODUCER, _CONSUMER = "111111111111", "222222222222"
_CONTRACT = {"producer_account_id": _PRODUCER, "region": "eu-central-1"}
_OUTPUTS = {Side.CONSUMER: {"platform": {"account_id": _CONSUMER}}}


class _Session:
    def __init__(self, account):
        self._account = account

    def create_client(self, service, **_):
        return self

    def get_caller_identity(self):
        return {"Account": self._account}


class _Client:
    """A client whose operation answers so, and counts how often it was asked."""

    def __init__(self, answer):
        self.answer, self.asked = answer, 0

    def can_paginate(self, operation):
        return False

    def describe(self, **words):
        self.asked += 1
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def _open(monkeypatch, outputs, by_profile):
    """Open both accounts, with an account for each profile; None is the process's own."""
    monkeypatch.setattr(accounts, "_load", lambda profile, region: _Session(by_profile[profile]))
    profiles = {side: f"{side}" if f"{side}" in by_profile else None for side in Side}
    return open_accounts(Deployment(_CONTRACT, outputs), profiles)


def test_a_profile_opens_the_other_account(monkeypatch):
    opened = _open(monkeypatch, _OUTPUTS, {None: _CONSUMER, "producer": _PRODUCER})
    assert {*opened.sessions} == {*Side}


@pytest.mark.parametrize("outputs", [_OUTPUTS, {}], ids=["root", "contract alone"])
@pytest.mark.parametrize(
    ("own", "missing"),
    [(_CONSUMER, Side.PRODUCER), (_PRODUCER, Side.CONSUMER)],
    ids=["consumer's", "producer's"],
)
def test_the_account_without_credentials_is_named_with_the_flag(monkeypatch, outputs, own, missing):
    opened = _open(monkeypatch, outputs, {None: own})
    assert {*opened.sessions} == {*Side} - {missing}
    with pytest.raises(NotSeenError, match=rf"are of account {own}.*--{missing}-profile"):
        opened.client(missing, "ec2")


def _world(client):
    opened = Accounts(dict.fromkeys(Side))
    opened._clients[Side.PRODUCER, "ec2"] = opened._clients[Side.CONSUMER, "s3"] = client
    return World(Deployment(_CONTRACT), opened)


def _error(code, status=400):
    answer = {"Error": {"Code": code}, "ResponseMetadata": {"HTTPStatusCode": status}}
    return ClientError(answer, "Describe")


def test_an_answer_is_asked_for_once():
    client = _Client({"a": 1})
    world = _world(client)
    assert world.ask(Side.PRODUCER, "ec2", "describe", Id="1") == {"a": 1}
    assert world.ask(Side.PRODUCER, "ec2", "describe", Id="1") == {"a": 1}
    assert client.asked == 1


@pytest.mark.parametrize("code", ["NoSuchEntity", "NotFoundException", "LoadBalancerNotFound"])
def test_what_is_missing_is_none(code):
    assert _world(_Client(_error(code))).ask(Side.PRODUCER, "ec2", "describe") is None


def test_a_call_that_is_denied_is_not_seen_and_others_are_still_made():
    client = _Client(_error("UnauthorizedOperation", 403))
    world = _world(client)
    for number in (1, 2):
        with pytest.raises(NotSeenError, match=r"ec2 does not answer: .*UnauthorizedOperation"):
            world.ask(Side.PRODUCER, "ec2", "describe", Id=number)
    assert client.asked == 2


def test_a_service_that_cannot_be_reached_is_asked_once():
    client = _Client(EndpointConnectionError(endpoint_url="https://ec2"))
    world = _world(client)
    for number in (1, 2):
        with pytest.raises(NotSeenError, match="ec2 does not answer"):
            world.ask(Side.PRODUCER, "ec2", "describe", Id=number)
    assert client.asked == 1


class _Bucket(_Client):
    """A client of S3 whose objects have this body, or fail while it is read."""

    def get_object(self, **words):
        return {"Body": self}

    def read(self):
        return self.describe()


@pytest.mark.parametrize(
    "error",
    [
        ReadTimeoutError(endpoint_url="https://s3"),
        ResponseStreamingError(error="reset"),
        IncompleteReadError(actual_bytes=1, expected_bytes=2),
    ],
    ids=lambda error: type(error).__name__,
)
def test_an_object_that_breaks_off_while_it_is_read_is_not_seen(error):
    assert _world(_Bucket(b"errors")).read_object("lake", "lease") == "errors"
    with pytest.raises(NotSeenError, match="s3 does not answer: "):
        _world(_Bucket(error)).read_object("lake", "lease")


def test_a_root_that_is_not_named_is_not_seen():
    with pytest.raises(NotSeenError, match="name the consumer's root with --consumer"):
        _world(_Client({})).outputs(Side.CONSUMER)
