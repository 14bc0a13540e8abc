"""Both accounts, applied once, and the demo run there before any other test sends an event."""

from __future__ import annotations

import io
import json
import urllib.request
from contextlib import redirect_stdout
from pathlib import Path

import pytest

from demo.accounts import SPARK
from demo.screen import Steps
from localcloud.quotas import CONCURRENT_VCPUS, QuotaValues
from tests.e2e.accounts import CONSUMER, DASHBOARD, NETWORK, PRODUCER, Accounts
from tests.e2e.analysts import GRANTS, create_people, govern_catalog
from tests.e2e.clients import HOST
from tests.e2e.deployers import create_deployers
from tests.e2e.exercise import disturb, exercise, list_jobs
from tests.e2e.jobs import Submitted
from tests.e2e.leftovers import list_everything
from tests.e2e.payments import FUNCTIONS, MAINTAIN_RUN, REGISTRIES, REPLAY_RUN, TABLES, TOPIC
from tests.e2e.registry import Registry
from tests.e2e.sales import OF_THE_PRODUCER, SALES, SHOP_TOTALS
from tools.build_zip import build
from tools.lambda_packages import Target

_FOLDER = Path(__file__).parent
# The first breaks the accounts and mends them, the others change them, the last destroys them.
_LAST = [
    _FOLDER / name for name in ("test_doctor.py", "test_brokers_added.py", "test_two_accounts.py")
]
CANARY = "Canary-password-that-nobody-may-see-7391"
TOPICS = {"sensor": {}, **{name: {"partitions": 1} for name in (SHOP_TOTALS, TOPIC)}}
# The entry of the consumer.
READER = {
    "name": "analytics",
    "account_id": CONSUMER,
    "registries": REGISTRIES,
    "topics": ["sensor", TOPIC],
    "writes": ["sensor"],
}


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Run some files last, and leave out what only the whole room can show, if a part runs."""
    items.sort(key=lambda item: _LAST.index(item.path) if item.path in _LAST else -1)
    folders = [config.invocation_params.dir / word for word in config.args]
    if not config.option.keyword and any(_FOLDER.is_relative_to(each) for each in folders):
        return
    left = [item for item in items if item.get_closest_marker("whole_room")]
    items[:] = [item for item in items if item not in left]
    config.hook.pytest_deselected(items=left)


@pytest.fixture(scope="session")
def packages(tmp_path_factory):
    """The zips, for the Python and the machine that run the tests."""
    folder = tmp_path_factory.mktemp("build")
    build(Target.of_host(), folder)
    return folder


@pytest.fixture(scope="session")
def deployers(client):
    """The roles that deploy and operate, each with its published policies, and those that ask."""
    create_deployers(client)
    create_people(client)


@pytest.fixture(scope="session")
def before(client, deployers):
    """What there was in the accounts before."""
    return {account: list_everything(client, account) for account in (PRODUCER, CONSUMER)}


@pytest.fixture(scope="session")
def set_password(cloud):
    """Say what the next passwords will be."""

    def set_it(password):
        asked = f"{cloud.endpoint}/_localcloud/set-random-password"
        body = json.dumps({"password": password}).encode()
        request = urllib.request.Request(asked, body, {"Content-Type": "application/json"})
        urllib.request.urlopen(request, timeout=60).close()

    yield set_it
    set_it(None)


@pytest.fixture(scope="session")
def prepared(cloud, client, deployers, packages, tmp_path_factory):
    """The producer's root and nothing in any account."""
    return Accounts(cloud, client, tmp_path_factory.mktemp("accounts"), packages)


@pytest.fixture(scope="session")
def accounts(cloud, client, prepared, before, set_password):
    """The producer and one consumer, applied."""
    set_password(CANARY)
    govern_catalog(client)
    made = prepared
    host = {"access_lists": "read", "host": {}, "reads": ["sensor"], "writes": ["sensor"]}
    made.producer.apply(clients={HOST: host}, consumers=[READER], topics=TOPICS, **OF_THE_PRODUCER)
    # One consumer with Spark tells as much as two, whose jars are a lot to upload.
    # Its jobs run at once: more than the default quota of an account allows.
    cloud.state(QuotaValues).set(CONSUMER, CONCURRENT_VCPUS, 32)
    application = {"maximum": {"cpu": "32 vCPU", "memory": "128 GB"}}
    spark = {
        "consumer_functions": FUNCTIONS,
        "jobs": list_jobs(),
        "network": NETWORK | {"emr_buckets": True, "interface_endpoints": ["ssm"]},
        "spark": SPARK | {"application": application},
        "tables": TABLES,
    }
    analytics = made.add_consumer("analytics", CONSUMER, clients={HOST: {"host": {}}}, **spark)
    analytics.extend(SALES + GRANTS + DASHBOARD)
    analytics.apply()
    return made


@pytest.fixture(scope="session")
def registry(accounts):
    """Apicurio, with a secret; nobody can reach it yet."""
    return Registry.prepare(accounts, f"{CANARY}-of-the-registry")


@pytest.fixture(scope="session")
def stories(accounts):
    """Two runs of the demo's story, each with its output; much is refused in between."""
    story = accounts.make_story("analytics")

    def run():
        with redirect_stdout(io.StringIO()) as printed:
            return story.run(Steps()), printed.getvalue()

    first = run()
    with disturb(accounts):
        return first, run()


@pytest.fixture(scope="session")
def exercised(accounts, stories, registry):
    """Each way that an event and a record can take has been taken."""
    return exercise(accounts, registry)


@pytest.fixture(scope="session")
def mended(exercised):
    """What `penstock submit` printed, by run, when payments were maintained and replayed."""
    analytics = exercised.accounts.consumers["analytics"]
    environ = analytics.environ | analytics.operator_keys()
    return Submitted(analytics.folder, environ, (MAINTAIN_RUN, REPLAY_RUN)).wait()
