"""RDS for PostgreSQL: real servers behind interfaces of a VPC."""

from __future__ import annotations

import json
import os
import subprocess

import pytest
from botocore.exceptions import ClientError

from localcloud.services.rds.lifecycle import Databases, measure_databases
from localcloud.services.rds.programs import find_programs
from localcloud.testing import wait_until
from tests.account_ids import PRODUCER
from tests.refusals import fails
from tests.vpcs import make_vpc

REGION = "eu-central-1"
INSTANCE = {
    "DBInstanceIdentifier": "films",
    "DBInstanceClass": "db.t4g.micro",
    "Engine": "postgres",
    "EngineVersion": find_programs().version.partition(".")[0],
    "AllocatedStorage": 20,
    "MasterUsername": "postgres",
    "MasterUserPassword": "se'cret$word",
    "DBName": "films",
    "DBSubnetGroupName": "films",
    "DBParameterGroupName": "films",
}
FAMILY = f"postgres{INSTANCE['EngineVersion']}"


@pytest.fixture(scope="module")
def rds(client):
    """RDS as the producer's account has it, with a subnet group and a parameter group."""
    ec2, rds = client("ec2"), client("rds")
    vpc = make_vpc(ec2, "10.9.0.0/16")
    subnets = [
        ec2.create_subnet(VpcId=vpc, CidrBlock=f"10.9.{n}.0/24", AvailabilityZone=f"{REGION}{zone}")
        for n, zone in enumerate("ab")
    ]
    rds.create_db_subnet_group(
        DBSubnetGroupName="films",
        DBSubnetGroupDescription="films",
        SubnetIds=[each["Subnet"]["SubnetId"] for each in subnets],
    )
    rds.create_db_parameter_group(
        DBParameterGroupName="films", DBParameterGroupFamily=FAMILY, Description="films"
    )
    group = ec2.create_security_group(VpcId=vpc, GroupName="films", Description="films")["GroupId"]
    made = rds.create_db_instance(**INSTANCE, VpcSecurityGroupIds=[group])["DBInstance"]
    assert made["DBInstanceStatus"] == "creating"
    await_state(rds, "available")
    yield rds
    rds.delete_db_instance(DBInstanceIdentifier="films", SkipFinalSnapshot=True)


@pytest.fixture(scope="module")
def server(cloud, rds):
    """Its server on this machine."""
    return cloud.state(Databases, PRODUCER, REGION)["films"].server


def show(rds, name="films"):
    return rds.describe_db_instances(DBInstanceIdentifier=name)["DBInstances"][0]


def list_subnets(rds):
    (group,) = rds.describe_db_subnet_groups(DBSubnetGroupName="films")["DBSubnetGroups"]
    return [each["SubnetIdentifier"] for each in group["Subnets"]]


def await_state(rds, state):
    wait_until(f"films is {state}", lambda: show(rds)["DBInstanceStatus"] == state)


def query(server, sql, user="postgres", password=INSTANCE["MasterUserPassword"], **settings):
    words = ["-h", server.address, "-p", str(server.port), "-U", user, "-d", "films", "-qAt"]
    variables = {**os.environ, "PGPASSWORD": password, **settings}
    done = subprocess.run(
        ["psql", "-X", *words, "-c", sql],
        env=variables,
        capture_output=True,
        text=True,
        check=False,
    )
    return (done.stdout + done.stderr).strip()


def set_parameter(rds, name, value, method="pending-reboot"):
    given = {"ParameterName": name, "ParameterValue": value, "ApplyMethod": method}
    rds.modify_db_parameter_group(DBParameterGroupName="films", Parameters=[given])


def parameters_state(rds):
    return show(rds)["DBParameterGroups"][0]["ParameterApplyStatus"]


def test_logical_replication_needs_a_reboot(rds, server):
    assert query(server, "show wal_level") == "replica"
    set_parameter(rds, "rds.logical_replication", "1")
    assert parameters_state(rds) == "pending-reboot"
    assert query(server, "show wal_level") == "replica"

    rds.reboot_db_instance(DBInstanceIdentifier="films")
    await_state(rds, "available")

    assert (query(server, "show wal_level"), parameters_state(rds)) == ("logical", "in-sync")


def test_parameters_that_were_set_are_those_of_the_user(rds):
    given = {"ParameterName": "log_statement", "ParameterValue": "ddl", "ApplyMethod": "immediate"}
    rds.modify_db_parameter_group(DBParameterGroupName="films", Parameters=[given])
    pages = rds.get_paginator("describe_db_parameters").paginate(DBParameterGroupName="films")
    every = {each["ParameterName"]: each for page in pages for each in page["Parameters"]}
    user = rds.describe_db_parameters(DBParameterGroupName="films", Source="user")["Parameters"]

    assert given.items() <= every["log_statement"].items()
    assert every["max_wal_senders"]["ApplyType"] == "static"
    assert "log_statement" in [each["ParameterName"] for each in user]
    assert {each["Source"] for each in user} == {"user"}


def test_a_marker_that_no_page_named_is_refused(rds):
    asked = {"DBParameterGroupName": "films", "Marker": "x"}
    said = "Marker 'x' is unknown"
    fails("InvalidParameterValue", said, rds.describe_db_parameters, **asked)


def test_a_dynamic_parameter_applies_at_once(rds, server):
    set_parameter(rds, "max_slot_wal_keep_size", "1024", "immediate")

    wait_until("it is applied", lambda: query(server, "show max_slot_wal_keep_size") == "1GB")


def test_a_dynamic_parameter_may_wait_for_a_reboot(rds, server):
    set_parameter(rds, "max_slot_wal_keep_size", "2048", "immediate")
    set_parameter(rds, "idle_session_timeout", "60000")
    wait_until("one is applied", lambda: query(server, "show max_slot_wal_keep_size") == "2GB")
    waiting = query(server, "show idle_session_timeout"), parameters_state(rds)
    assert waiting == ("0", "pending-reboot")

    rds.reboot_db_instance(DBInstanceIdentifier="films")
    await_state(rds, "available")

    assert query(server, "show idle_session_timeout") == "1min"


def test_another_major_version_is_refused(rds):
    other = {"DBInstanceIdentifier": "films", "AllowMajorVersionUpgrade": True}
    with pytest.raises(ClientError, match=r"does not have PostgreSQL 11\.1: this machine has"):
        rds.modify_db_instance(EngineVersion="11.1", **other)
    rds.modify_db_instance(EngineVersion=INSTANCE["EngineVersion"], **other)
    await_state(rds, "available")

    assert show(rds)["EngineVersion"] == find_programs().version


@pytest.mark.parametrize(
    ("name", "method", "said"),
    [
        ("nothing", "immediate", "Could not find parameter with name: nothing"),
        ("wal_level", "pending-reboot", "The parameter wal_level cannot be modified"),
        ("max_wal_senders", "immediate", "cannot use immediate apply method for static parameter"),
    ],
)
def test_a_parameter_is_checked(rds, name, method, said):
    with pytest.raises(ClientError, match=said):
        set_parameter(rds, name, "1", method)


def test_the_master_is_no_superuser_and_members_replicate(rds, server):
    assert query(server, "select rolsuper from pg_roles where rolname = current_user") == "f"
    query(server, "create role debezium login password 'd'; grant rds_replication to debezium")
    replicates = "select rolreplication from pg_roles where rolname = 'debezium'"

    wait_until("the member may replicate", lambda: query(server, replicates) == "t")


def test_connections_are_encrypted_unless_the_parameter_group_says_otherwise(rds, server):
    plain = {"PGSSLMODE": "disable"}
    assert "no encryption" in query(server, "select 1", **plain)
    verified = {"PGSSLMODE": "verify-ca", "PGSSLROOTCERT": str(server.ca_file)}
    assert query(server, "select 1", **verified) == "1"

    set_parameter(rds, "rds.force_ssl", "0", "immediate")

    wait_until("plain connections work", lambda: query(server, "select 1", **plain) == "1")
    set_parameter(rds, "rds.force_ssl", "1", "immediate")


def test_a_wrong_password_is_refused_and_a_new_one_applies(rds, server):
    assert "password authentication failed" in query(server, "select 1", password="wrong")
    rds.modify_db_instance(DBInstanceIdentifier="films", MasterUserPassword="another-one")
    await_state(rds, "available")
    assert query(server, "select 1", password="another-one") == "1"
    rds.modify_db_instance(
        DBInstanceIdentifier="films", MasterUserPassword=INSTANCE["MasterUserPassword"]
    )
    await_state(rds, "available")


def test_data_survive_a_kill(cloud, rds, server, control):
    query(server, "create table kept as select 7 as it")
    control("kill-database", name="films")
    assert query(server, "select it from kept") == "7"


def test_groups_of_an_instance_stay(rds):
    said = (
        "One or more database instances are still members of this parameter group films, so the "
        "group cannot be deleted"
    )
    group = {"DBParameterGroupName": "films"}
    fails("InvalidDBParameterGroupState", said, rds.delete_db_parameter_group, **group)
    said = (
        "Cannot delete the subnet group 'films' because at least one database instance: films is "
        "still using it."
    )
    group = {"DBSubnetGroupName": "films"}
    fails("InvalidDBSubnetGroupStateFault", said, rds.delete_db_subnet_group, **group)


def test_a_subnet_of_an_instance_stays_in_its_group(rds):
    used, free = list_subnets(rds)
    said = f"Some of the subnets to be deleted are currently in use: {used}"
    group = {"DBSubnetGroupName": "films"}

    modify = rds.modify_db_subnet_group
    fails("SubnetAlreadyInUse", said, modify, **group, SubnetIds=[free])

    modify(**group, SubnetIds=[used])
    assert list_subnets(rds) == [used]
    modify(**group, SubnetIds=[used, free])
    assert list_subnets(rds) == [used, free]


@pytest.mark.parametrize("kind", ["parameter", "subnet"])
def test_groups_of_no_instance_are_deleted(rds, kind):
    settings = {
        "parameter": {"DBParameterGroupFamily": FAMILY, "Description": "free"},
        "subnet": {"DBSubnetGroupDescription": "free", "SubnetIds": list_subnets(rds)},
    }[kind]
    name = {f"DB{kind.title()}GroupName": "free"}
    getattr(rds, f"create_db_{kind}_group")(**name, **settings)

    getattr(rds, f"delete_db_{kind}_group")(**name)

    with pytest.raises(ClientError, match="NotFound"):
        getattr(rds, f"delete_db_{kind}_group")(**name)


def test_retained_log_is_a_metric(cloud, rds, server):
    measured = {metric.name: value for metric, value in measure_databases(cloud)}
    assert measured["OldestReplicationSlotLag"] == 0
    assert measured["TransactionLogsDiskUsage"] > 0


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"Engine": "mysql"}, "instances of mysql, only of postgres"),
        ({"EngineVersion": "11.1"}, "PostgreSQL 11.1: this machine has"),
        ({"MasterUsername": "admin"}, "reserved word used by the engine"),
        ({"MasterUserPassword": "short"}, "shorter than 8 characters"),
        ({"MasterUserPassword": "with space"}, "Only printable ASCII"),
    ],
)
def test_an_instance_is_refused(rds, changes, said):
    with pytest.raises(ClientError, match=said):
        rds.create_db_instance(**INSTANCE | {"DBInstanceIdentifier": "other"} | changes)


def test_rds_manages_the_password_in_a_secret(rds, client, cloud):
    given = {k: v for k, v in INSTANCE.items() if k != "MasterUserPassword"}
    rds.create_db_instance(
        **given | {"DBInstanceIdentifier": "managed", "ManageMasterUserPassword": True}
    )
    wait_until("it runs", lambda: show(rds, "managed")["DBInstanceStatus"] == "available")
    arn = show(rds, "managed")["MasterUserSecret"]["SecretArn"]
    secret = json.loads(client("secretsmanager").get_secret_value(SecretId=arn)["SecretString"])
    server = cloud.state(Databases, PRODUCER, REGION)["managed"].server

    assert query(server, "select 1", secret["username"], secret["password"]) == "1"

    rds.delete_db_instance(DBInstanceIdentifier="managed", SkipFinalSnapshot=True)
    assert server.running is False
