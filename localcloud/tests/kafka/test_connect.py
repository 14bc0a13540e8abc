"""MSK Connect: a real worker with a connector of our own, on real brokers by IAM."""

from __future__ import annotations

import base64
import subprocess
from pathlib import Path

import pytest
from botocore.exceptions import ClientError

from localcloud.jars import JARS
from localcloud.services.kafkaconnect.lifecycle import describe_connectors, measure_connectors
from localcloud.testing import make_zip, wait_until
from localcloud.testing.clusters import KafkaTopic
from localcloud.testing.policies import allow, make_role, trust

pytestmark = pytest.mark.kafka

_PROPERTIES = "key.converter={0}\nvalue.converter={0}\noffset.flush.interval.ms=500\n".format(
    "org.apache.kafka.connect.storage.StringConverter"
)
# MSK Developer Guide, "Understand service execution role".
_ON_TOPICS = ("CreateTopic", "DescribeTopic", "ReadData", "WriteData")
_ON_GROUPS = ("AlterGroup", "DescribeGroup")


@pytest.fixture(scope="module")
def connect(client):
    """MSK Connect as the producer's account has it."""
    return client("kafkaconnect")


@pytest.fixture(scope="module")
def plugin(client, connect, tmp_path_factory):
    """A custom plugin with our connector: its ARN."""
    classes = tmp_path_factory.mktemp("teller")
    source = Path(__file__).with_name("Teller.java")
    words = ["javac", "--release", "17", "-cp", f"{JARS}/connect/*", "-d", str(classes)]
    subprocess.run([*words, str(source)], check=True)
    jar = make_zip({path.name: path.read_bytes() for path in classes.glob("*.class")})
    s3 = client("s3")
    where = {"LocationConstraint": "eu-central-1"}
    s3.create_bucket(Bucket="plugins-of-connect", CreateBucketConfiguration=where)
    s3.put_object(Bucket="plugins-of-connect", Key="teller.zip", Body=make_zip({"teller.jar": jar}))
    arn = connect.create_custom_plugin(
        name="teller", contentType="ZIP", location=place("teller.zip")
    )["customPluginArn"]
    assert connect.describe_custom_plugin(customPluginArn=arn)["customPluginState"] == "ACTIVE"
    return arn


@pytest.fixture(scope="module")
def configuration(connect):
    """A worker configuration: its ARN."""
    made = connect.create_worker_configuration(
        name="often", propertiesFileContent=encode(_PROPERTIES)
    )
    return made["workerConfigurationArn"]


@pytest.fixture(scope="module")
def role(running):
    """Make a service execution role that may do with topics what it is told."""
    trusting = trust(
        {"Service": "kafkaconnect.amazonaws.com"},
        Condition={"StringEquals": {"aws:SourceAccount": "111111111111"}},
    )

    def make(actions=_ON_TOPICS):
        cluster, topics, groups = (
            running.arn.replace(":cluster/", f":{kind}/") for kind in ("cluster", "topic", "group")
        )
        return make_role(
            running.client("iam"),
            trusting,
            allow_kafka(["Connect", "DescribeCluster"], cluster),
            allow_kafka(_ON_TOPICS, f"{topics}/__amazon_msk_connect_*"),
            allow_kafka(_ON_GROUPS, f"{groups}/__amazon_msk_connect_*"),
            allow_kafka(actions, f"{topics}/told"),
        )

    return make


@pytest.fixture(scope="module")
def surroundings(client, running):
    """A log group, and brokers that are open to their own security group."""
    client("logs").create_log_group(logGroupName="/connect")
    (group,) = running.view.security_group_ids
    port = {"IpProtocol": "tcp", "FromPort": 9098, "ToPort": 9098}
    client("ec2").authorize_security_group_ingress(
        GroupId=group, IpPermissions=[port | {"UserIdGroupPairs": [{"GroupId": group}]}]
    )


@pytest.fixture
def request_of(running, plugin, configuration, role, surroundings):
    """The request of a connector, with settings of its own."""

    def make(name="teller", actions=_ON_TOPICS, **settings):
        view = running.view
        vpc = {"subnets": list(view.subnet_ids), "securityGroups": list(view.security_group_ids)}
        servers = ",".join(f"{node.name}:{view.ports['IAM']}" for node in view.nodes)
        return {
            "connectorName": name,
            "kafkaConnectVersion": "3.7.x",
            "capacity": {"provisionedCapacity": {"mcuCount": 1, "workerCount": 1}},
            "connectorConfiguration": configure(**settings),
            "kafkaCluster": {"apacheKafkaCluster": {"bootstrapServers": servers, "vpc": vpc}},
            "kafkaClusterClientAuthentication": {"authenticationType": "IAM"},
            "kafkaClusterEncryptionInTransit": {"encryptionType": "TLS"},
            "plugins": [{"customPlugin": {"customPluginArn": plugin, "revision": 1}}],
            "workerConfiguration": {"workerConfigurationArn": configuration, "revision": 1},
            "serviceExecutionRoleArn": role(actions),
            "logDelivery": {
                "workerLogDelivery": {"cloudWatchLogs": {"enabled": True, "logGroup": "/connect"}}
            },
        }

    return make


def configure(**settings):
    return {
        "connector.class": "Teller",
        "tasks.max": "1",
        "topic": "told",
        "topic.creation.default.replication.factor": "2",
        "topic.creation.default.partitions": "1",
        "errors.log.enable": "true",
        **settings,
    }


def encode(properties):
    return base64.b64encode(properties.encode()).decode()


def place(key):
    return {"s3Location": {"bucketArn": "arn:aws:s3:::plugins-of-connect", "fileKey": key}}


def allow_kafka(actions, resource):
    return allow([f"kafka-cluster:{action}" for action in actions], resource)


def await_state(connect, arn, state):
    def describe():
        return connect.describe_connector(connectorArn=arn)

    wait_until(f"{arn} is {state}", lambda: describe()["connectorState"] == state)
    return describe()


def read(running):
    _, keys = running.assume_role(["*"])
    return KafkaTopic("told", running.iam(keys)).read()


def _list_regions(cloud):
    """The variables of the one worker that name a region."""
    (described,) = describe_connectors(cloud)
    given = Path(f"/proc/{described['pid']}/environ").read_bytes().split(b"\0")
    return {each for each in given if each.startswith((b"AWS_REGION", b"AWS_DEFAULT"))}


def test_a_connector_writes_survives_its_worker_and_changes(
    connect, client, running, request_of, control
):
    made = connect.create_connector(**request_of(says="first"))
    arn = made["connectorArn"]
    assert made["connectorState"] == "CREATING"
    shown = await_state(connect, arn, "RUNNING")
    assert shown["connectorConfiguration"]["says"] == "first"
    messages = client("logs").filter_log_events(logGroupName="/connect")["events"]
    assert any("Finished starting connectors" in each["message"] for each in messages)
    measured = {metric.name: value for metric, value in measure_connectors(running.cloud)}
    assert measured == {"RunningTaskCount": 1, "ErroredTaskCount": 0, "WorkerCount": 1}
    wait_until("the first is there", lambda: read(running) == [b"first"])
    assert _list_regions(running.cloud) == set()

    control("kill-connect-worker", connector="teller")
    changed = connect.update_connector(
        connectorArn=arn,
        currentVersion=shown["currentVersion"],
        connectorConfiguration=configure(says="second"),
    )

    operation = changed["connectorOperationArn"]
    wait_until(
        "the change is complete",
        lambda: (
            connect.describe_connector_operation(connectorOperationArn=operation)[
                "connectorOperationState"
            ]
            == "UPDATE_COMPLETE"
        ),
    )
    # At least once: a worker that is killed before it has written its offset says the first again.
    wait_until("the second is there", lambda: read(running)[-1] == b"second")
    assert set(read(running)) == {b"first", b"second"}
    assert connect.describe_connector(connectorArn=arn)["currentVersion"] != shown["currentVersion"]

    connect.delete_connector(connectorArn=arn)

    wait_until("it is gone", lambda: connect.list_connectors()["connectors"] == [])


def test_a_role_without_rights_on_the_topic_fails_the_task(cloud, connect, request_of):
    """The connector stays RUNNING, as on AWS: the metric tells."""
    given = request_of("denied", actions=("DescribeTopic",), says="first")
    arn = connect.create_connector(**given)["connectorArn"]
    await_state(connect, arn, "RUNNING")

    def failed_tasks():
        return {metric.name: value for metric, value in measure_connectors(cloud)}[
            "ErroredTaskCount"
        ]

    wait_until("its task failed", failed_tasks)
    connect.delete_connector(connectorArn=arn)


@pytest.mark.parametrize(
    ("name", "settings", "failure"),
    [
        ("silent", {"says": ""}, ("UnknownError.UnknownError", "The last operation failed. Retry")),
        (
            "invalid",
            {"tasks.max": "none"},
            (
                "InvalidInput.InvalidConnectorConfiguration",
                "The connector configuration is invalid. Message: Connector configuration is",
            ),
        ),
    ],
)
def test_a_connector_that_cannot_run_is_failed(connect, request_of, name, settings, failure):
    code, said = failure
    arn = connect.create_connector(**request_of(name, **settings))["connectorArn"]

    why = await_state(connect, arn, "FAILED")["stateDescription"]

    assert why["code"] == code
    assert why["message"].startswith(said)
    connect.delete_connector(connectorArn=arn)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"kafkaConnectVersion": "4.0.0"}, "only 2.7.1 or 3.7.x"),
        ({"kafkaConnectVersion": "2.7.1"}, "has no Kafka Connect 2.7.1"),
        ({"kafkaClusterEncryptionInTransit": {"encryptionType": "PLAINTEXT"}}, "needs encryption"),
        ({"capacity": {}}, "either autoScaling or provisionedCapacity"),
        ({"capacity": {"provisionedCapacity": {"mcuCount": 3, "workerCount": 1}}}, "mcuCount is 3"),
        ({"capacity": {"provisionedCapacity": {"mcuCount": 1, "workerCount": 11}}}, "not 11"),
        ({"connectorConfiguration": {"topic": "told"}}, "lacks connector.class and tasks.max"),
        ({"serviceExecutionRoleArn": "arn:aws:iam::222222222222:role/r"}, "[Cc]ross-account"),
    ],
)
def test_a_request_is_refused(connect, request_of, changes, said):
    with pytest.raises(ClientError, match=said):
        connect.create_connector(**request_of("refused", says="first") | changes)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("not base64", "not a text in Base64"),
        (encode("key.converter=a"), "lacks value.converter"),
        (encode(f"{_PROPERTIES}sasl.mechanism=PLAIN"), "unsupported properties: .*sasl.mechanism"),
        (encode(f"{_PROPERTIES}producer.client.id=a"), "unsupported properties: .*client.id"),
        (encode(f"{_PROPERTIES}group.id=a"), "unsupported properties: .*group.id"),
    ],
)
def test_a_worker_configuration_is_refused(connect, content, said):
    with pytest.raises(ClientError, match=said):
        connect.create_worker_configuration(name="refused", propertiesFileContent=content)


def test_a_plugin_that_does_not_exist_is_refused(connect, plugin):
    with pytest.raises(ClientError, match=r"no object nothing\.zip"):
        connect.create_custom_plugin(
            name="nothing", contentType="ZIP", location=place("nothing.zip")
        )


def test_resources_have_tags(connect, plugin):
    connect.tag_resource(resourceArn=plugin, tags={"of": "tests", "more": "1"})
    connect.untag_resource(resourceArn=plugin, tagKeys=["more"])
    assert connect.list_tags_for_resource(resourceArn=plugin)["tags"] == {"of": "tests"}
