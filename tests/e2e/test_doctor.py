"""`penstock doctor` names the first cause of each break in both accounts, and nothing else.

The tests come before those that change the accounts. Each break is mended before the next one.
"""

from __future__ import annotations

import json
from copy import deepcopy
from functools import partial

import pytest

from localcloud.identity.credentials import credentials_for_role
from localcloud.quotas import FUNCTION_INTERFACES, QuotaValues
from localcloud.testing import ask_for, invoke, wait_until
from penstock.extensions.doctor.accounts import Accounts, World
from penstock.extensions.doctor.deployment import Deployment
from penstock.extensions.doctor.findings import Side, State
from penstock.extensions.doctor.hops import HOPS
from penstock.extensions.doctor.installed import list_hops
from penstock.extensions.doctor.operation import examine
from penstock.extensions.doctor.text import describe
from systems.sessions import make_session
from tests.e2e.accounts import CONSUMER, DOCTORS, PRODUCER
from tests.e2e.breaks import (
    BREAKS,
    Broken,
    close_egress,
    delete_record,
    disable_key,
    disable_producers_key,
    move_listener,
    remove_target,
    stop_function,
    stop_producer,
)
from tests.e2e.conftest import CANARY
from tests.e2e.connectors import ALARM, NAME, Connector

pytestmark = [pytest.mark.terraform, pytest.mark.kafka, pytest.mark.e2e, pytest.mark.timeout(1800)]

_HEALTHY = (1, 100)  # runs, and those of a nightly run
_CONNECTED = ["connection", "access lists", "schemas"]  # from the VPC alone
# The code of each stays with another break by day.
_AT_NIGHT = (delete_record, disable_producers_key, remove_target, stop_producer)
_BREAKS = [
    pytest.param(*each, marks=[pytest.mark.nightly] if each[1] in _AT_NIGHT else [])
    for each in BREAKS
]
_PAIRS = [
    (("client-egress-missing", close_egress), ("listener-missing", move_listener)),
    (("key-not-enabled", disable_key), ("target-wrong", remove_target)),
]


@pytest.fixture(scope="module")
def broken(accounts):
    """Both accounts."""
    consumer = accounts.consumers["analytics"]
    produced = accounts.producer.outputs()
    contract = produced["contracts"]["analytics"]
    return Broken(accounts.producer, consumer, contract, produced, consumer.outputs())


@pytest.fixture(scope="module")
def open_world(broken, cloud):
    """Open both accounts by roles with the published policy, with outputs of the consumer."""
    sessions = {
        Side.PRODUCER: _open_session(cloud, DOCTORS[PRODUCER]),
        Side.CONSUMER: _open_session(cloud, DOCTORS[CONSUMER]),
    }
    opened = Accounts(sessions, endpoint=cloud.endpoint)

    def open_it(consumed):
        outputs = {Side.PRODUCER: broken.produced, Side.CONSUMER: consumed}
        return World(Deployment(broken.contract, outputs), opened)

    return open_it


@pytest.fixture(scope="module")
def look(broken, open_world):
    """Look at both accounts, at all hops or at some."""
    return lambda hops=HOPS: examine(open_world(broken.consumed), hops)


@pytest.fixture
def connector(broken, tmp_path):
    """A connector in the producer's account."""
    made = Connector(broken.producer, tmp_path)
    made.create()
    yield made
    made.delete()


@pytest.fixture
def healthy(look):
    """Wait until nothing is broken: a mapping that failed says so until its next batch."""
    wait_until("nothing is broken", lambda: not look().causes, 120)


def test_nothing_is_broken_in_healthy_accounts(look, healthy, trials):
    for _ in range(trials(*_HEALTHY)):
        report = look()
        assert [each.cause for each in report.causes] == []
        assert [each.hop for each in report.not_seen] == _CONNECTED


def _look_until(look, codes):
    """Look until these are the causes: a mapping may still tell of the break before.

    Return the codes of the causes that were seen last.
    """
    found = []

    def is_found():
        found[:] = sorted(each.code for each in look().causes)
        return found == codes

    ask_for(is_found, 180)
    return found


@pytest.mark.parametrize(("code", "break_it"), _BREAKS, ids=lambda it: getattr(it, "__name__", ""))
def test_a_break_is_named_as_the_first_cause_and_nothing_else(code, break_it, broken, look):
    """A break that is not mended fails the next test, which expects another code."""
    mend = break_it(broken)
    try:
        found = _look_until(look, [code])
    finally:
        mend()
    assert found == [code]


@pytest.mark.parametrize("pair", _PAIRS, ids=lambda pair: " and ".join(code for code, _ in pair))
def test_two_breaks_are_both_named(pair, broken, look, healthy):
    mends = [break_it(broken) for _, break_it in pair]
    try:
        found = _look_until(look, sorted(code for code, _ in pair))
    finally:
        for mend in mends:
            mend()
    assert found == sorted(code for code, _ in pair)


def test_resources_that_somebody_deleted_are_each_a_first_cause(broken, open_world, healthy):
    """The root's outputs name what is not there: to delete it would take an apply."""
    consumed = deepcopy(broken.consumed)
    consumed["spark_application"] = "00nothing"
    lake, store = consumed["platform"]["lake"], consumed["platform"]["store"]
    lake["database"]["name"] = "penstock_nothing"
    lake["parked_bucket"]["name"] = "penstock-nothing"
    store["leases"]["name"] = "penstock-nothing"

    causes = examine(open_world(consumed), HOPS).causes

    assert sorted(each.code for each in causes) == [
        *("application-missing", "bucket-missing", "database-missing", "table-not-active")
    ]


def test_the_quota_of_network_interfaces_is_looked_at(broken, look, healthy, cloud):
    quotas = cloud.state(QuotaValues)
    quotas.set(CONSUMER, FUNCTION_INTERFACES, 0)
    try:
        causes = look().causes
    finally:
        quotas.set(CONSUMER, FUNCTION_INTERFACES, FUNCTION_INTERFACES.default)
    assert [each.code for each in causes] == ["interfaces-full"]


def test_a_report_has_no_password_and_no_external_id(broken, look, healthy):
    mend = stop_function(broken)
    try:
        report = look()
    finally:
        mend()
    text = "\n".join(describe(report)) + json.dumps([str(each) for each in report.findings])
    for secret in (CANARY, broken.contract["registry"]["external_id"]):
        assert secret not in text
    assert "aws lambda delete-function-concurrency" in text


@pytest.mark.nightly
def test_a_connector_runs_until_its_task_fails(look, connector):
    """The hop that the extension of change data capture brings."""
    hops = [hop for hop in list_hops() if hop.name == "connectors"]
    (runs,) = look(hops).findings
    assert (runs.state, runs.seen) == (State.OK, f"{NAME} is RUNNING")

    connector.fail()

    (stopped,) = look(hops).findings
    assert (stopped.code, stopped.about) == ("capture-stopped", NAME)
    assert stopped.seen == f"RUNNING with the alarms {ALARM}"


def test_functions_try_the_brokers_and_the_registry_when_they_are_asked(broken, client, healthy):
    whole = [_ask(broken, client, each) for each in ("producer", "consumer")]
    mend = delete_record(broken)

    def ask_without_a_name():
        answer = _ask(broken, client, "consumer")
        return answer if "BrokerNameError" in answer["causes"] else None

    try:  # the port may close before the name is gone
        half = wait_until("the function misses the name", ask_without_a_name)
    finally:
        mend()
    for answer in (*whole, half):
        assert {each["hop"] for each in answer["findings"]} == {*_CONNECTED}
        assert "run `penstock doctor`" in answer["notLookedAt"]
    for answer in whole:  # the consumer's other registries may not be reached by then
        states = [each["state"] for each in answer["findings"] if each["hop"] == "connection"]
        assert states == ["ok", "ok"]
        assert any(each["seen"].startswith("glue://penstock has") for each in answer["findings"])


def _ask(broken, client, side):
    names = {"producer": broken.produced["functions"]["producer"], "consumer": broken.function}
    accounts = {"producer": PRODUCER, "consumer": CONSUMER}
    answer, error = invoke(partial(client, account=accounts[side]), names[side], {"doctor": True})
    assert error is None, answer
    return answer


def _open_session(cloud, role):
    key = credentials_for_role(cloud, role, "probe")
    return make_session(key.access_key, key.secret_key, key.session_token)
