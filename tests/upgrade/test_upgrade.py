"""A consumer that was applied before there were extensions is upgraded: everything stays."""

from __future__ import annotations

import json
import os
import re
import shutil
import tarfile
from pathlib import Path

import pytest

from demo.accounts import make_jobs
from localcloud.quotas import CONCURRENT_EXECUTIONS, QuotaValues
from localcloud.testing.policies import allow, document, trust
from penstock.operations import CONTRACT_FILE
from tests.e2e.accounts import CONSUMER, DEPLOYERS, NETWORK, PRODUCER_DEPLOYER, Accounts
from tools.build_zip import build
from tools.lambda_packages import Target
from tools.local_root import EXTENSIONS_FILE, renew_infra
from tools.moved_sales import make_blocks
from tools.terraform import VERSION, init_words

pytestmark = [pytest.mark.terraform, pytest.mark.nightly]

_ROOT = Path(__file__).parents[2]
# Of a commit before there were extensions, with its modules.
_OLD = _ROOT / "tests/data/infra-before-extensions.tar.gz"
_READER = f"arn:aws:iam::{CONSUMER}:role/reports"
_OLD_LAKE = {
    "grants": {"readers": [_READER]},
    "parquet": {"crawler": {"folders": ["files/meters"]}},
    "quality": {"tables": {"readings": {"late-share": "0.05"}}},
    "sync": {"tables": {"readings": ["sensor"]}},
}
_PLAN = str(_ROOT / "tests/data/staging/plan.json")
_JOBS = make_jobs() | {"shop": {"staging": {"plan": _PLAN}, "trigger": "available-now"}}
_FIGURES = {"commands": ["summarize"]}
_OLD_JOBS = _JOBS | {"figures": {"sales": _FIGURES}}
_EXTENSIONS = f"""
module "quality" {{
  source         = "../extensions/quality"
  platform       = local.platform
  lake_formation = true
  tables         = {{ readings = {{ late-share = "0.05" }} }}
}}

module "sync" {{
  source   = "../extensions/sync"
  platform = local.platform
  tables   = {{ readings = ["sensor"] }}
}}

module "plain_parquet" {{
  source   = "../extensions/plain_parquet"
  platform = local.platform
  folders  = ["files/meters"]
}}

module "lake_formation" {{
  source     = "../extensions/lake_formation"
  platform   = local.platform
  principals = merge([
    for extension in [
      module.plain_parquet, module.quality, module.sales, module.sync
    ] : extension.lake_principals
  ]...)
  readers    = ["{_READER}"]
}}

module "sales" {{
  source   = "../extensions/sales"
  platform = local.platform
  jobs     = {json.dumps({"figures": _FIGURES})}
}}
"""
_CLUSTER = """
module "emr_cluster" {
  source   = "../extensions/emr_cluster"
  platform = local.platform
  jobs     = ["consume"]
}
"""
# By new address: the old one, and what is alike.
_OF_A_CLUSTER = {
    "module.emr_cluster.module.cluster.aws_iam_role.instance": (
        'module.emr["emr"].aws_iam_role.instance',
        'module.spark["spark"].module.jobs.aws_iam_role.job["consume"]',
    ),
    'module.emr_cluster.aws_vpc_security_group_ingress_rule.this["brokers"]': (
        'module.broker_access.aws_vpc_security_group_ingress_rule.client["emr_cluster"]',
        'module.broker_access.aws_vpc_security_group_ingress_rule.client["consumer"]',
    ),
    'module.emr_cluster.aws_vpc_security_group_ingress_rule.this["endpoints"]': (
        'module.network.aws_vpc_security_group_ingress_rule.endpoints["emr_cluster"]',
        'module.network.aws_vpc_security_group_ingress_rule.endpoints["consumer"]',
    ),
    "module.emr_cluster.aws_cloudwatch_event_rule.this": (
        'module.alarms.aws_cloudwatch_event_rule.ended["step-ended"]',
        'module.alarms.aws_cloudwatch_event_rule.ended["job-ended"]',
    ),
    "module.emr_cluster.aws_cloudwatch_event_target.this": (
        'module.alarms.aws_cloudwatch_event_target.ended["step-ended"]',
        'module.alarms.aws_cloudwatch_event_target.ended["job-ended"]',
    ),
}
_ADDRESS = re.compile(r'(.+)\.(aws_\w+)\.(\w+)(?:\["(.+)"\])?')
# A lease of functions with its way out, settings on S3, a limit of retries with an alarm, logins,
# and what is fixed for the life of tables.
_NEW = {
    'cloudwatch_metric_alarm.this["consumer-sync-dropped"]',
    'cloudwatch_metric_alarm.this["function_leases-write-throttles"]',
    'dynamodb_table.readings["function_leases"]',
    *(
        f'secretsmanager_{kind}.login["{program}"]'
        for kind in ("secret", "secret_version")
        for program in ("clients", "jobs")
    ),
    *(
        f'module.reading_store.terraform_data.fixed["{table}"]'
        for table in (
            "customers",
            "final_orders",
            "function_leases",
            "order_lines",
            "orders",
            "readings",
            "shop_waiting",
        )
    ),
    "lambda_function_event_invoke_config.this",
    'module.consumer_functions.module.mapping["consumer"].terraform_data.this',
    "s3_object.settings[0]",
    'vpc_security_group_egress_rule.this["dynamodb"]',
}
_CALLS = ("lake_formation", "plain_parquet", "quality", "sales", "sync")


@pytest.fixture(scope="module")
def accounts(cloud, client, tmp_path_factory):
    """The producer, and a consumer that was applied in the old form."""
    for role in (PRODUCER_DEPLOYER, DEPLOYERS["analytics"], _READER):
        _create_role(client, role)
    admins = [{"DataLakePrincipalIdentifier": DEPLOYERS["analytics"]}]
    client("lakeformation", account=CONSUMER).put_data_lake_settings(
        DataLakeSettings={"DataLakeAdmins": admins}
    )
    # The old form reserved concurrency, which a new account does not allow.
    cloud.state(QuotaValues).set(CONSUMER, CONCURRENT_EXECUTIONS, 1_000)
    packages = tmp_path_factory.mktemp("build")
    build(Target.of_host(), packages)
    # What the old form calls this zip.
    shutil.copy(packages / "penstock-packages.zip", packages / "penstock-boto3.zip")
    (packages / "jars").mkdir()
    shutil.copy(_ROOT / "tests/data/tiny.zip", packages / "jars/tiny-1.0.jar")  # no job runs
    made = Accounts(cloud, client, tmp_path_factory.mktemp("accounts"), packages)
    topic = {"name": "analytics", "account_id": CONSUMER, "topics": ["sensor"]}
    made.producer.apply(consumers=[topic])
    spark = {"jars": str(packages / "jars"), "jobs": str(_ROOT / "jobs")}
    old = {"jobs": _OLD_JOBS, "lake": _OLD_LAKE, "spark": spark}
    consumer = made.add_consumer("analytics", CONSUMER, **old)
    _return_to_the_old_form(consumer)
    consumer.apply()
    return made


@pytest.fixture(scope="module")
def upgraded(accounts):
    """What the first plan of the new form changes, by address, before it is applied."""
    consumer = accounts.consumers["analytics"]
    renew_infra(_ROOT / "infra", consumer.infra)
    accounts.hand_over("analytics")
    moved = make_blocks(consumer.run("state", "list").stdout.splitlines(), ["figures"])
    consumer.extend("\n".join([_EXTENSIONS, *moved]))
    network = NETWORK | {"interface_endpoints": ["ssm"]}
    new = {"jobs": _JOBS, "lake": {}, "network": network}
    changes = _plan(consumer, **new)
    consumer.apply(**new)
    return changes


def test_an_alarm_and_the_shared_login_are_replaced_and_nothing_else_is_made_again(upgraded):
    login = "module.broker_access.aws_secretsmanager_secret"
    assert {address: done for address, done in upgraded.items() if "delete" in done} == {
        'module.alarms.module.metrics.aws_cloudwatch_metric_alarm.this["consumer-given-up"]': [
            "delete"
        ],
        f'{login}.login["functions"]': ["create", "delete"],
        f'{login}_version.login["functions"]': ["delete", "create"],
    }


def test_only_what_the_old_form_did_not_have_is_made(upgraded):
    made = {address for address, done in upgraded.items() if done == ["create"]}

    status = {address for address in made if address.startswith('module.status["status"].')}
    assert status
    assert {address.rpartition(".aws_")[2] for address in made - status} == _NEW


def test_records_flow(accounts, upgraded):
    answer = accounts.produce({"temperature": 30})

    assert accounts.await_row("analytics", answer)


def test_there_is_nothing_left_to_do(accounts, upgraded):
    assert not accounts.consumers["analytics"].has_changes()


def test_a_cluster_of_the_root_is_that_of_the_extension(accounts, upgraded):
    """No cluster of the old form comes up here; what one had is added to a copy of the state."""
    consumer = accounts.consumers["analytics"]
    state = json.loads((consumer.folder / "terraform.tfstate").read_text())
    for old, like in _OF_A_CLUSTER.values():
        _add_like(state, old, like)
    (consumer.folder / "cluster.tfstate").write_text(json.dumps(state))
    consumer.extend((consumer.folder / EXTENSIONS_FILE).read_text() + _CLUSTER)
    network = consumer.variables["network"] | {"emr_buckets": True}
    words = ("-input=false", "-refresh=false", "-state=cluster.tfstate", "-out=plan")
    consumer.run("plan", *words, f"-var=network={json.dumps(network)}", "-var=check_quotas=false")
    shown = json.loads(consumer.run("show", "-json", "plan").stdout)

    moved = {one["address"]: one.get("previous_address") for one in shown["resource_changes"]}
    assert {new: moved[new] for new in _OF_A_CLUSTER} == {
        new: old for new, (old, _) in _OF_A_CLUSTER.items()
    }


def test_an_extension_that_is_taken_out_is_destroyed_alone(accounts, upgraded):
    consumer = accounts.consumers["analytics"]
    (consumer.folder / EXTENSIONS_FILE).unlink()
    changes = _plan(consumer)

    gone = {address for address, done in changes.items() if done != ["no-op"]}
    assert {address.split(".")[1] for address in gone} == set(_CALLS)
    assert {tuple(changes[address]) for address in gone} == {("delete",)}


def _plan(consumer, **changes):
    """Plan with changes to the variables, and return what is done by address."""
    words = [f"-var={name}={json.dumps(value)}" for name, value in changes.items()]
    consumer.run("plan", "-input=false", "-out=plan", *words)
    shown = json.loads(consumer.run("show", "-json", "plan").stdout)
    return {
        one["address"]: one["change"]["actions"]
        for one in shown["resource_changes"]
        if one["mode"] == "managed"
    }


def _add_like(state, address, like):
    """Add a resource to a state, with the attributes of another one."""
    *_, like_key = found = _ADDRESS.fullmatch(like).groups()
    (instance,) = (
        one
        for resource in state["resources"]
        if (resource.get("module"), resource["type"], resource["name"]) == found[:3]
        for one in resource["instances"]
        if one.get("index_key") == like_key
    )
    module, kind, name, key = _ADDRESS.fullmatch(address).groups()
    made = {word: value for word, value in instance.items() if word != "index_key"}
    place = {"module": module, "mode": "managed", "type": kind, "name": name}
    provider = {"provider": 'provider["registry.terraform.io/hashicorp/aws"]'}
    more = {"index_key": key} if key else {}
    known = next((one for one in state["resources"] if place.items() <= one.items()), None)
    if known:
        known["instances"].append(made | more)
    else:
        state["resources"].append(place | provider | {"instances": [made | more]})


def _return_to_the_old_form(consumer):
    shutil.rmtree(consumer.infra / "modules")
    for path in consumer.folder.glob("*.tf"):
        path.unlink()
    with tarfile.open(_OLD) as archive:
        archive.extractall(consumer.infra.parent, filter="data")
    _share_a_login(consumer.folder / CONTRACT_FILE)
    consumer.run(*init_words(VERSION, os.environ))


def _share_a_login(path):
    """Return a contract to the form in which all programs have one user."""
    contract = json.loads(path.read_text())
    shared = contract["contract"].pop("programs")["functions"]
    login = {"username": shared["usernames"][0]}
    login |= {name: shared[name] for name in ("rotation", "secret_arn")}
    contract["contract"]["hand_over"] |= login
    path.write_text(json.dumps(contract))


def _create_role(client, role):
    """Create a role that may do everything."""
    account, name = role.split(":")[4], role.rpartition("/")[2]
    iam = client("iam", account)
    iam.create_role(RoleName=name, AssumeRolePolicyDocument=trust(account))
    iam.put_role_policy(RoleName=name, PolicyName="all", PolicyDocument=document(allow("*")))
