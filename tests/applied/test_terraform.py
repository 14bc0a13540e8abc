"""Terraform's provider makes, changes and destroys what the roots declare; second plans are empty.

All of it is one root, since the provider waits for most of it, and one story: the tests follow the
order in which things are made, changed and destroyed.
"""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from localcloud.errors import MissingHopError
from localcloud.network import Node, Nodes, Source, trace
from tests.fixtures.terraform import Terraform
from tools.local_root import allow_destroy, copy_infra

# Load balancers take 60 s of waiting inside the provider, applications 30 s to be made and deleted.
pytestmark = [pytest.mark.terraform, pytest.mark.timeout(900)]

_ACCOUNT = "930000000001"
_CONSUMERS = ("222222222222", "333333333333")  # of the root's policy
_HERE = Path(__file__).parent
_INFRA = _HERE.parents[1] / "infra"
_MAPPING = 'aws_lambda_event_source_mapping.this["sensor"]'
_PACKAGE = _HERE.parents[1] / "tests/data/tiny.zip"
# Its module depends on a service that has tags, so what its policy names is read again.
_WAITING = "module.broker_access.module.login_key.aws_kms_key.this"


def _schema(*fields):
    return json.dumps({"type": "record", "name": "Reading", "fields": list(fields)})


_ID = {"name": "id", "type": "string"}
_FIRST = _schema(_ID)
_SECOND = _schema(_ID, {"name": "t", "type": ["null", "double"], "default": None})
_MADE = {
    "acceptance_required": True,
    "broker_count": 2,
    "compatibility": "BACKWARD",
    "connectable": False,
    "definition": _FIRST,
    "host": {"instance_type": "t4g.small"},
    "mapping": {"park_failed_batches": True},
    "partitions": 3,
    "rows": "country = 'DE'",
}
_CHANGED = {
    "acceptance_required": False,
    "broker_count": 4,
    "compatibility": "FULL",
    "connectable": True,
    "definition": _SECOND,
    "host": {"instance_type": "t4g.micro"},
    "mapping": {"park_failed_batches": True, "provisioned": {}},
    "partitions": 5,
    "rows": "country = 'FR'",
}
_REFUSED = _CHANGED | {
    "acceptance_required": True,
    "definition": _schema(_ID | {"type": "long"}),
    "mapping": {"park_failed_batches": False},
}


@pytest.fixture(scope="module")
def made(cloud, client, pretended, tmp_path_factory):
    """The root, applied for the first time, in an account that Lake Formation governs."""
    client("lakeformation", account=_ACCOUNT).put_data_lake_settings(DataLakeSettings={})
    folder = tmp_path_factory.mktemp("terraform")
    for part in ("extensions", "modules"):
        copy_infra(_INFRA / part, folder / _HERE.name / part)
    allow_destroy(folder / _HERE.name / "modules")
    terraform = Terraform(_HERE / "root", folder, cloud.endpoint, _ACCOUNT)
    shutil.copy(_PACKAGE, terraform.folder / "consumer-lambda.zip")
    terraform.apply(**_MADE)
    return terraform


@pytest.fixture(scope="module")
def outputs(made):
    """What it put out then."""
    return made.outputs()


@pytest.fixture(scope="module")
def told():
    """The output of each apply after the first."""
    return []


@pytest.fixture(scope="module")
def changed(made, outputs, told):
    """The root with other arguments."""
    told.append(made.apply(**_CHANGED))
    return made


@pytest.fixture(scope="module")
def refused(changed, told):
    """The root with a schema that Glue refuses, and with a mapping as by default."""
    told.append(changed.apply(**_REFUSED))
    return changed


@pytest.fixture(scope="module")
def destroyed(refused):
    """The root, when nothing of it is left."""
    refused.destroy(refresh=True, **_CHANGED)  # as users do


@pytest.fixture(scope="module")
def glue(client):
    return client("glue", account=_ACCOUNT)


def _find_steps(told, module):
    """Find what was done with the resources of a module, in order."""
    done = "Creation|Destruction|Modifications"
    steps = re.compile(rf"^{re.escape(module)}\S*\.(aws_\S+: (?:{done}) complete)", re.MULTILINE)
    return steps.findall(told)


def _find_changes(shown):
    """Find what a plan changes, by address; it reads what follows from them again."""
    changes = {each["address"]: each["change"] for each in shown["resource_changes"]}
    kept = (["no-op"], ["read"])
    return {address: change for address, change in changes.items() if change["actions"] not in kept}


def _find_different(change):
    """Find the arguments that an update gives other values."""
    before, after = change["before"], change["after"]  # without what the apply makes known
    return {name for name in before if before[name] != after.get(name)}


def _trace(cloud, broker):
    return trace(cloud.state(Nodes), Source(broker["vpc"]), broker["host"], broker["port"])


def _find_missing_hop(cloud, broker):
    nodes = cloud.state(Nodes)
    nodes.plug(Node(broker["host"], broker["interface"], "127.0.0.1", frozenset({9096})))
    found = _trace(cloud, broker)
    nodes.unplug(broker["interface"])
    return found.missing


def test_nothing_is_left_to_do(made):
    assert not made.has_changes(**_MADE)


def test_the_way_of_private_link_is_complete(cloud, outputs):
    assert _find_missing_hop(cloud, outputs["broker"]) is None


def test_a_cluster_has_its_users_properties_and_names(pretended, outputs):
    brokers = pretended["terraform"]
    assert brokers.users == {"anna": "a-1"}
    assert brokers.properties["num.partitions"] == "3"
    assert len(outputs["endpoints"]) == 2
    hosts = [server.partition(":")[0] for server in outputs["bootstrap"].split(",")]
    assert hosts == outputs["endpoints"]


@pytest.mark.usefixtures("made")
def test_consumers_with_msk_connections_are_in_the_cluster_policy(client):
    kafka = client("kafka", account=_ACCOUNT)
    (cluster,) = kafka.list_clusters_v2(ClusterNameFilter="applied")["ClusterInfoList"]
    policy = kafka.get_cluster_policy(ClusterArn=cluster["ClusterArn"])["Policy"]
    assert json.loads(policy)["Statement"] == [
        {
            "Sid": "ConsumersConnect",
            "Effect": "Allow",
            "Principal": {"AWS": [f"arn:aws:iam::{it}:root" for it in _CONSUMERS]},
            "Action": [
                "kafka:CreateVpcConnection",
                "kafka:DescribeCluster",
                "kafka:DescribeClusterV2",
                "kafka:GetBootstrapBrokers",
            ],
            "Resource": cluster["ClusterArn"],
        }
    ]


@pytest.mark.usefixtures("made")
def test_the_endpoint_of_emr_lets_in_who_may_call_the_others(client):
    names = [{"Name": "service-name", "Values": ["aws.api.eu-central-1.emr-service-cell01"]}]
    ec2 = client("ec2", account=_ACCOUNT)
    (endpoint,) = ec2.describe_vpc_endpoints(Filters=names)["VpcEndpoints"]
    assert len(endpoint["Groups"]) == 2


@pytest.mark.usefixtures("made")
@pytest.mark.parametrize(
    ("name", "kind", "states"),
    [
        ("step-ended", "EMR Step Status Change", ["FAILED", "CANCELLED", "INTERRUPTED"]),
        ("cluster-ended", "EMR Cluster State Change", ["TERMINATED_WITH_ERRORS"]),
    ],
)
def test_what_ends_on_the_cluster_of_emr_is_published(client, name, kind, states):
    (cluster,) = client("emr", account=_ACCOUNT).list_clusters()["Clusters"]
    rule = client("events", account=_ACCOUNT).describe_rule(Name=f"applied-{name}")
    assert json.loads(rule["EventPattern"]) == {
        "source": ["aws.emr"],
        "detail-type": [kind],
        "detail": {"clusterId": [cluster["Id"]], "state": states},
    }


@pytest.mark.usefixtures("made")
@pytest.mark.parametrize("name", ["analytics_jobs_a", "billing_jobs_a"])
def test_the_policy_of_a_users_secret_names_that_secret(client, name):
    secrets = client("secretsmanager", account=_ACCOUNT)
    shown = secrets.get_resource_policy(SecretId=f"AmazonMSK_applied_{name}")
    (statement,) = json.loads(shown["ResourcePolicy"])["Statement"]
    assert statement["Resource"] == shown["ARN"]
    assert statement["Principal"] == {"Service": "kafka.amazonaws.com"}


@pytest.mark.usefixtures("changed")
def test_the_way_is_complete_once_nobody_must_accept(cloud, outputs):
    """Removing an acceptance rejects the endpoint for good, so it is created again."""
    assert _find_missing_hop(cloud, outputs["broker"]) is None


@pytest.mark.usefixtures("changed")
def test_a_changed_cluster_has_more_brokers_and_other_properties(pretended):
    brokers = pretended["terraform"]
    assert brokers.properties["num.partitions"] == "5"
    zones = next(step[1] for step in brokers.done if step[0] == "add")
    assert zones.keys() == {3, 4}
    # One more in each zone; which comes first is the order of the subnets' ids, a set to Terraform.
    assert sorted(zones.values()) == ["eu-central-1a", "eu-central-1b"]


@pytest.mark.usefixtures("changed")
def test_a_changed_client_host_is_another_instance(client):
    asked = [{"Name": "instance-state-name", "Values": ["running"]}]
    shown = client("ec2", account=_ACCOUNT).describe_instances(Filters=asked)["Reservations"]
    found = [instance["InstanceType"] for each in shown for instance in each["Instances"]]
    assert found == ["t4g.micro"]


def test_nothing_is_left_to_do_after_a_change_and_a_new_tag_replaces_nothing(changed):
    shown = changed.plan(**_CHANGED, tags={"project": "penstock", "owner": "platform"})
    changes = _find_changes(shown)
    assert "module.client_host.aws_instance.this" in changes
    assert {tuple(change["actions"]) for change in changes.values()} == {("update",)}
    others = {at: _find_different(change) - {"tags_all"} for at, change in changes.items()}
    assert {at: names for at, names in others.items() if names} == {_WAITING: {"policy"}}


@pytest.mark.usefixtures("changed")
def test_a_changed_schema_has_another_version(glue):
    found = glue.get_schema(SchemaId={"RegistryName": "plant", "SchemaName": "readings"})
    assert (found["LatestSchemaVersion"], found["Compatibility"]) == (2, "FULL")


def test_a_version_that_glue_refuses_is_wanted_again(refused):
    """Nobody tells Terraform that it is refused."""
    assert _find_changes(refused.plan(**_REFUSED)).keys() == {"aws_glue_schema.this"}


@pytest.mark.usefixtures("refused")
def test_the_way_is_complete_once_somebody_must_accept(cloud, outputs):
    assert _find_missing_hop(cloud, outputs["broker"]) is None


@pytest.mark.usefixtures("refused")
def test_a_function_changes_how_it_answers_while_it_has_no_mapping(told):
    """A mapping that reads no partial answer takes it for success, and loses what is held."""
    for each in told:  # provisioned mode, on and off
        steps = _find_steps(each, "module.consumer_functions")
        assert [step for step in steps if "role_policy" not in step] == [
            f"{_MAPPING}: Destruction complete",
            "aws_lambda_function.this: Modifications complete",
            f"{_MAPPING}: Creation complete",
        ]


@pytest.mark.usefixtures("refused")
def test_a_mapping_is_deleted_before_its_role_loses_the_bucket(client, told):
    """It would give up batches that it may not write; the new one gives none up."""
    assert _find_steps(told[1], "module.consumer_functions.module.mapping") == [
        f"{_MAPPING}: Destruction complete",
        "aws_iam_role_policy.this: Modifications complete",
        f"{_MAPPING}: Creation complete",
    ]
    shown = client("lambda", account=_ACCOUNT).list_event_source_mappings()
    (mapping,) = shown["EventSourceMappings"]
    assert "DestinationConfig" not in mapping


@pytest.mark.usefixtures("changed")
def test_a_changed_data_filter_has_other_rows(client):
    lake = client("lakeformation", account=_ACCOUNT)
    (found,) = lake.list_data_cells_filter()["DataCellsFilters"]
    assert found["RowFilter"] == {"FilterExpression": "country = 'FR'"}
    assert found["ColumnWildcard"] == {"ExcludedColumnNames": ["email"]}


@pytest.mark.usefixtures("destroyed")
def test_nothing_is_left_once_it_is_destroyed(cloud, client, glue, pretended, outputs):
    broker = outputs["broker"]
    with pytest.raises(MissingHopError, match=f"there is no VPC {broker['vpc']} in any account"):
        _trace(cloud, broker)
    assert pretended["terraform"].done[-1] == "stop"
    assert glue.list_registries()["Registries"] == []
    emr = client("emr-serverless", account=_ACCOUNT)
    assert [each["state"] for each in emr.list_applications()["applications"]] == ["TERMINATED"]
    (left,) = client("lakeformation", account=_ACCOUNT).list_permissions()[
        "PrincipalResourcePermissions"
    ]
    assert left["Resource"] == {"Catalog": {}}  # which IAM allows at first
