"""Records go each way between the VPCs of two accounts: the modules of both roots, one cluster.

A client in each VPC of the consumer has the login that Terraform left there. The resources of its
exposure are its only path to the brokers: without one of them it reaches none.
"""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import pytest
from kafka.admin import (
    ACL,
    ACLOperation,
    ACLPermissionType,
    NewTopic,
    ResourcePattern,
    ResourceType,
)

from localcloud.network import load_network
from localcloud.services.kafka.model import all_clusters
from localcloud.testing.certificates import PrivateAuthority
from penstock.extensions.doctor.accounts import Accounts, World
from penstock.extensions.doctor.deployment import Deployment
from penstock.extensions.doctor.findings import Side
from penstock.extensions.doctor.hops import HOPS
from penstock.extensions.doctor.operation import examine
from systems.sessions import make_session
from tests.applied.vpc_client import VpcClient
from tests.fixtures.terraform import Terraform
from tools.local_root import allow_destroy, copy_infra

pytestmark = [pytest.mark.terraform, pytest.mark.kafka, pytest.mark.timeout(900)]

_PRODUCER, _CONSUMER = "930000000011", "930000000012"
_WAYS = ("multi_vpc", "peering", "privatelink")
_HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def made(cloud, tmp_path_factory):
    """The root with its modules, applied once."""
    folder = tmp_path_factory.mktemp("ways")
    copy_infra(_HERE.parents[1] / "infra" / "modules", folder / _HERE.name / "modules")
    allow_destroy(folder / _HERE.name / "modules")
    terraform = Terraform(_HERE / "ways", folder, cloud.endpoint, _PRODUCER)
    terraform.apply()
    return terraform


@pytest.fixture(scope="module")
def outputs(made):
    """The outputs of the root."""
    return made.outputs()


@pytest.fixture(scope="module")
def cluster(cloud, outputs):
    """The cluster, which the users of the consumer may write to and read from."""
    (found,) = (one for one in all_clusters(cloud) if one.arn == outputs["cluster"]["arn"])
    topics = ResourcePattern(ResourceType.TOPIC, "*")
    with closing(found.brokers.open_admin()) as admin:
        admin.create_acls(
            [
                ACL("User:*", "*", ACLOperation[operation], ACLPermissionType.ALLOW, topics)
                for operation in ("READ", "WRITE", "DESCRIBE")
            ]
        )
    return found


@pytest.fixture
def topic(cluster, request):
    """A topic of two partitions, which have their leaders on both brokers."""
    name = "".join(letter for letter in request.node.name if letter.isalnum())
    with closing(cluster.brokers.open_admin()) as admin:
        admin.create_topics([NewTopic(name, num_partitions=2, replication_factor=2)])
    return name


@pytest.fixture
def run_client(cloud, client, cluster, outputs, topic):
    """Write and read four records in the VPC of a way; return what the client said."""

    def run(way, patience_seconds=60):
        place = outputs["ways"][way]
        secrets = client("secretsmanager", account=_CONSUMER)
        secret = secrets.get_secret_value(SecretId=place["secrets"]["program"])
        login = json.loads(secret["SecretString"])
        scram = {
            "sasl_mechanism": "SCRAM-SHA-512",
            "sasl_plain_username": login["username"],
            "sasl_plain_password": login["password"],
        }
        return VpcClient(cloud, cluster.arn, place, scram).round_trip(topic, patience_seconds)

    return run


def test_nothing_is_left_to_do(made):
    assert not made.has_changes()


@pytest.mark.parametrize("way", _WAYS)
def test_each_way_carries_records(run_client, way):
    assert run_client(way) == "[0, 1, 2, 3]"


@pytest.fixture
def certified_client(cloud, client, cluster, outputs, tmp_path):
    """A client in the VPC of a way whose login is a certificate, kept in the secret for it."""

    def make(way, authority):
        place = outputs["ways"][way]
        secrets = client("secretsmanager", account=_CONSUMER)
        secret = {"SecretId": place["secrets"]["certified"]}
        secrets.put_secret_value(**secret, SecretString=json.dumps(authority.issue(way)))
        login = json.loads(secrets.get_secret_value(**secret)["SecretString"])
        file = tmp_path / "login.pem"
        file.write_text(f"{login['certificate']}\n{login['privateKey']}")
        shown = {"ssl_certfile": str(file), "ssl_keyfile": str(file), "security_protocol": "SSL"}
        place = place | {"bootstrap_servers": place["tls_servers"]}
        return VpcClient(cloud, cluster.arn, place, shown)

    return make


@pytest.mark.parametrize("way", ["peering", "privatelink"])
def test_a_client_certificate_carries_records(certified_client, client, outputs, topic, way):
    authority = PrivateAuthority(outputs["cluster"]["ca"], client("acm-pca", account=_PRODUCER))

    assert certified_client(way, authority).round_trip(topic) == "[0, 1, 2, 3]"


def test_a_certificate_of_another_authority_is_refused(certified_client, client, topic):
    other = PrivateAuthority.make(client("acm-pca", account=_PRODUCER))

    said = certified_client("privatelink", other).round_trip(topic, patience_seconds=5)

    assert "NoBrokersAvailable" in said or "KafkaTimeoutError" in said, said


def test_a_role_uses_a_serverless_cluster_in_its_own_vpc(client, cloud, outputs):
    """By IAM alone, on a topic that the client creates."""
    place = outputs["serverless"]
    iam, sts = (client(name, account=_PRODUCER) for name in ("iam", "sts"))
    trust = _allow("sts:AssumeRole", Principal={"AWS": _PRODUCER})
    role = iam.create_role(RoleName="serverless", AssumeRolePolicyDocument=trust)["Role"]["Arn"]
    rights = _allow("kafka-cluster:*", Resource="*")
    iam.put_role_policy(RoleName="serverless", PolicyName="kafka", PolicyDocument=rights)
    keys = sts.assume_role(RoleArn=role, RoleSessionName="test")["Credentials"]
    environment = {
        "AWS_ACCESS_KEY_ID": keys["AccessKeyId"],
        "AWS_DEFAULT_REGION": "eu-central-1",
        "AWS_SECRET_ACCESS_KEY": keys["SecretAccessKey"],
        "AWS_SESSION_TOKEN": keys["SessionToken"],
    }
    login = {"sasl_mechanism": "AWS_MSK_IAM"}

    said = VpcClient(cloud, place["arn"], place, login, environment).round_trip("sensor")

    assert said == "[0, 1, 2, 3]"


def _allow(action, **rest):
    statement = {"Effect": "Allow", "Action": action} | rest
    return json.dumps({"Version": "2012-10-17", "Statement": [statement]})


def test_without_its_route_a_peered_vpc_reaches_nobody(client, cloud, outputs, run_client, look):
    """On AWS the packets are lost as well, and the client says only that nobody answers."""
    ec2, place = client("ec2", account=_CONSUMER), outputs["ways"]["peering"]
    route = {
        "RouteTableId": place["route_table"],
        "DestinationCidrBlock": outputs["cluster"]["cidr"],
    }
    ec2.delete_route(**route)

    said = run_client("peering", patience_seconds=5)
    causes = [each.cause for each in look("peering").causes]

    assert causes == [f"peering-route-missing ({outputs['cluster']['cidr']})"]
    assert "NoBrokersAvailable" in said or "KafkaTimeoutError" in said, said
    refusals = {link.refusal for link in load_network(cloud).links(vpc_id=place["vpc"])} - {None}
    assert refusals
    assert all(f"route table {place['route_table']}" in refusal for refusal in refusals)
    ec2.create_route(**route, VpcPeeringConnectionId=place["connection"])
    assert run_client("peering") == "[0, 1, 2, 3]"


@pytest.fixture(scope="module")
def look(cloud, outputs):
    """Look at the hops between the accounts that a way has."""
    sessions = {
        side: make_session(account, "any")
        for side, account in ((Side.PRODUCER, _PRODUCER), (Side.CONSUMER, _CONSUMER))
    }
    accounts = Accounts(sessions, endpoint=cloud.endpoint)
    cluster = outputs["cluster"]

    def look_at(way):
        place = outputs["ways"][way]
        contract = {
            "brokers": place["brokers"],
            "cluster": {"arn": cluster["arn"], "name": "ways-cluster"},
            "exposure": way,
            "peering": {"cidr": cluster["cidr"], "vpc_id": cluster["vpc"]},
            "producer_account_id": _PRODUCER,
            "region": "eu-central-1",
        }
        network = {"vpc_id": place["vpc"], "subnet_ids": place["subnets"]}
        made = {
            "functions": {},
            "peering": {"cidr": place["cidr"], "connection_id": place["connection"]},
            "platform": {"account_id": _CONSUMER, "network": network},
        }
        world = World(Deployment(contract, {Side.CONSUMER: made}), accounts)
        return examine(world, [each for each in HOPS if each.exposure == way])

    return look_at


@pytest.mark.parametrize(("way", "hops"), [("multi_vpc", 3), ("peering", 5)])
def test_the_doctor_sees_each_hop_of_a_way(look, way, hops):
    report = look(way)
    assert [
        (each.hop, each.state, each.seen) for each in report.findings if each.state != "ok"
    ] == []
    assert len(report.findings) == hops


def test_all_of_it_is_destroyed(made, client):
    made.destroy()

    for account in (_PRODUCER, _CONSUMER):
        found = client("ec2", account=account).describe_vpc_peering_connections()
        assert {one["Status"]["Code"] for one in found["VpcPeeringConnections"]} == {"deleted"}
