"""Channels of MSK Data Delivery: a fixed schema is delivered, a changed one stops the delivery."""

from __future__ import annotations

import json
import secrets
import uuid
import zlib
from contextlib import closing

import pytest
from kafka import KafkaProducer
from pyiceberg.table import StaticTable

from localcloud.services.kafka.channels.delivery import deliver_channel
from localcloud.services.kafka.channels.model import Channels
from localcloud.services.kafka.model import Kafka
from localcloud.testing import wait_until
from localcloud.testing.policies import allow, allow_role, make_role, trust

pytestmark = pytest.mark.kafka

_ACCOUNT = "111111111111"
_REGION = "eu-central-1"
_TABLES = ["CreateNamespace", "CreateTable", "GetTable", "GetTableBucket", "GetTableData"]
_TABLES += ["GetTableMetadataLocation", "PutTableData", "UpdateTableMetadataLocation"]
_RIGHTS = [f"s3tables:{name}" for name in _TABLES]
_RIGHTS += ["glue:GetSchemaVersion", "logs:CreateLogStream", "logs:PutLogEvents", "s3:*"]
_AT = "2026-11-26T10:00:00Z"


def _schema(**more):
    fields = {"id": {"type": "integer"}, "at": {"type": "string", "format": "date-time"}, **more}
    return json.dumps({"type": "object", "properties": fields, "required": ["id"]})


class _Delivered:
    """A channel, what is around it, and what it has delivered."""

    def __init__(self, cloud, client, running):
        self._cloud, self.client, self._running = cloud, client, running
        self.kafka, self.glue = client("kafka"), client("glue")
        self.name = f"d-{secrets.token_hex(4)}"
        self.topic = running.topic(num_partitions=2)
        self.bucket = self._make_bucket()
        self.role = make_role(client("iam"), trust(_trusting()), allow(_RIGHTS))
        client("logs").create_log_group(logGroupName=f"/{self.name}")
        self.warehouse = client("s3tables").create_table_bucket(name=self.name)["arn"]
        self.cluster_arn = running.arn
        self.arn = self.arn_of_schema = ""

    def register(self, definition):
        """Add a version of the schema; returns its ids: of the schema and of the version."""
        named = {"SchemaName": self.name, "DataFormat": "JSON", "Compatibility": "BACKWARD"}
        if not self.arn_of_schema:
            made = self.glue.create_schema(**named, SchemaDefinition=definition)
            self.arn_of_schema = made["SchemaArn"]
            return made["SchemaVersionId"]
        known = {"SchemaArn": self.arn_of_schema}
        made = self.glue.register_schema_version(SchemaId=known, SchemaDefinition=definition)
        return made["SchemaVersionId"]

    def begin(self, converter, **changes):
        """Create the channel to a table, and wait until it is ACTIVE or FAILED."""
        return self._begin(self.source(converter), self.to_table(**changes))

    def begin_to_bucket(self, converter, **storage):
        return self._begin(self.source(converter), self.to_bucket(**storage))

    def source(self, converter):
        topic = self._running.arn.replace(":cluster/", ":topic/") + f"/{self.topic}"
        source = {"TopicArn": topic, "RecordConverter": {"ValueConverter": converter}}
        if converter == "JSON" and self.arn_of_schema:
            source["RecordSchema"] = {"GsrArn": self.arn_of_schema}
        return source

    def to_table(self, **changes):
        bucket = self.warehouse.rpartition("/")[2]
        place = f"arn:aws:glue:{_REGION}:{_ACCOUNT}:catalog/s3tablescatalog/{bucket}"
        hours = {"PartitionStrategy": "TIME_HOUR", "SourceList": [{"SourceName": "at"}]}
        table = {"DestinationDatabaseName": "lake", "DestinationTableName": "events"}
        given = {
            "AppendOnly": True,
            "Catalog": {"CatalogArn": place, "WarehouseLocation": self.warehouse},
            "DeadLetterQueueS3": self._queue(),
            "DestinationTableList": [{**table, "PartitionSpec": hours}],
            "SchemaEvolution": {"EnableSchemaEvolution": False},
            "ServiceExecutionRoleArn": self.role,
            "TableCreation": {"EnableTableCreation": True},
        }
        return {"IcebergDestinationConfiguration": given | changes}

    def to_bucket(self, **storage):
        place = {"BucketArn": f"arn:aws:s3:::{self.bucket}", "StorageClass": "STANDARD"}
        given = {
            "DeadLetterQueueS3": self._queue(),
            "ServiceExecutionRoleArn": self.role,
            "Storage": place | {"CompressionType": "NONE", "OutputPrefix": "out/"} | storage,
        }
        return {"S3DestinationConfiguration": given}

    def produce(self, *values):
        """Write a value to each partition: an object as JSON, text, or bytes."""
        with closing(KafkaProducer(**self.login)) as producer:
            for partition, value in enumerate(values):
                text = json.dumps(value) if isinstance(value, dict) else value
                data = text if isinstance(text, bytes) else text.encode()
                producer.send(self.topic, data, partition=partition).get(60)

    def deliver(self):
        """Deliver as at the end of the channel's freshness; returns how many, and the problem."""
        told = deliver_channel(self._cloud, channel=self.arn)
        return told["delivered"], [each["code"] for each in told["failed"]], told["problem"]

    def update(self, **changes):
        self.kafka.update_channel(ClusterArn=self.cluster_arn, ChannelArn=self.arn, **changes)

    def describe(self):
        return self.kafka.describe_channel(ClusterArn=self._running.arn, ChannelArn=self.arn)

    def rows(self):
        """The rows of the table, by their ids."""
        found = self.client("s3tables").get_table_metadata_location(
            tableBucketARN=self.warehouse, namespace="lake", name="events"
        )
        files = {"s3.endpoint": self._cloud.endpoint, "s3.region": _REGION}
        files |= {"s3.access-key-id": _ACCOUNT, "s3.secret-access-key": "x"}
        table = StaticTable.from_metadata(found["metadataLocation"], files)
        return sorted(table.scan().to_arrow().to_pylist(), key=lambda row: row["id"])

    def objects(self, prefix):
        """The bodies of the objects below a prefix, by their keys."""
        s3 = self.client("s3")
        found = s3.list_objects_v2(Bucket=self.bucket, Prefix=prefix).get("Contents", [])
        return {
            each["Key"]: s3.get_object(Bucket=self.bucket, Key=each["Key"])["Body"].read()
            for each in found
        }

    def log(self):
        found = self.client("logs").filter_log_events(logGroupName=f"/{self.name}")["events"]
        return [json.loads(event["message"])["message"] for event in found]

    def _begin(self, source, destination):
        watched = {"CloudWatchLogs": {"Enabled": True, "LogGroup": f"/{self.name}"}}
        self.arn = self.kafka.create_channel(
            ChannelName=self.name,
            ClusterArn=self._running.arn,
            TopicConfigurationList=[source],
            LoggingInfo=watched,
            **destination,
        )["ChannelArn"]

        def settled():
            found = self.describe()
            return found if found["Status"] != "CREATING" else None

        return wait_until("the channel is created", settled)

    def _queue(self):
        return {"BucketArn": f"arn:aws:s3:::{self.bucket}", "ErrorOutputPrefix": "dead/"}

    def _make_bucket(self):
        region = {"LocationConstraint": _REGION}
        self.client("s3").create_bucket(Bucket=self.name, CreateBucketConfiguration=region)
        return self.name


def _trusting():
    return {"Service": "kafka.amazonaws.com"}


@pytest.fixture
def made(cloud, client, running, user, monkeypatch):
    """What a channel needs, on a cluster whose brokers are said to be Express."""
    cluster = cloud.state(Kafka, _ACCOUNT, _REGION).clusters[running.arn]
    group = cluster.settings["BrokerNodeGroupInfo"]
    monkeypatch.setitem(group, "InstanceType", "express.m7g.large")
    made = _Delivered(cloud, client, running)
    made.login, _ = user
    running.allow(made.login["sasl_plain_username"], "TOPIC", made.topic, "WRITE", "DESCRIBE")
    yield made
    for channel in list(cloud.state(Channels, _ACCOUNT, _REGION).by_arn.values()):
        channel.ended.set()


def test_a_fixed_schema_is_delivered_and_a_changed_one_stops_it(made):
    made.register(_schema(name={"type": "string"}))
    made.produce({"id": 0, "at": _AT, "name": "before the channel"})
    assert made.begin("JSON")["Status"] == "ACTIVE"

    made.produce({"id": 1, "at": _AT, "name": "a", "more": "dropped"}, {"id": 2, "at": _AT})
    assert made.deliver() == (2, [], "")
    assert [(row["id"], row["name"]) for row in made.rows()] == [(1, "a"), (2, None)]

    bad = ({"at": _AT}, {"id": "x", "at": _AT}, "{", {"id": 2**40, "at": _AT})
    for each in bad:
        made.produce(each)
    codes = ["MissingRequiredField", "TypeMismatch", "MalformedRecord", "TypeMismatch"]
    assert made.deliver() == (0, codes, "")
    (letters,) = made.objects("dead/").values()
    places = [json.loads(line) for line in letters.splitlines()]
    assert [place["offset"] for place in places] == [2, 3, 4, 5]
    assert b"2026" not in letters  # no values

    made.register(_schema(name={"type": "string"}, place={"type": "string"}))
    made.produce({"id": 3, "at": _AT, "name": "b", "place": "c"})
    delivered, failed, problem = made.deliver()
    assert (delivered, failed) == (0, [])
    assert "schema evolution is not supported" in problem
    assert made.log()[-1] == problem
    assert made.describe()["Status"] == "ACTIVE"
    assert len(made.rows()) == 2

    made.glue.delete_schema_versions(SchemaId={"SchemaArn": made.arn_of_schema}, Versions="2")
    assert made.deliver() == (1, [], "")
    assert made.deliver() == (0, [], "")  # each record once
    assert [row["id"] for row in made.rows()] == [1, 2, 3]

    made.client("s3tables").delete_table(
        tableBucketARN=made.warehouse, namespace="lake", name="events"
    )
    made.produce({"id": 4, "at": _AT})
    assert made.deliver() == (0, [], "the table of the channel was deleted")
    assert made.describe()["Status"] == "SUSPENDED"


def _frame(version_id, record, *, packed=False):
    data = json.dumps(record).encode()
    head = b"\x03" + (b"\x05" if packed else b"\x00") + uuid.UUID(version_id).bytes
    return head + (zlib.compress(data) if packed else data)


def test_a_record_with_another_schema_stops_its_partition(made):
    first = made.register(_schema())
    assert made.begin("JSON_SCHEMA_GSR")["Status"] == "ACTIVE"
    second = made.register(_schema(place={"type": "string"}))
    unknown = str(uuid.uuid4())

    made.produce(
        _frame(first, {"id": 1, "at": _AT}), _frame(first, {"id": 2, "at": _AT}, packed=True)
    )
    made.produce(_frame(second, {"id": 3, "at": _AT}), b"{}")
    made.produce(_frame(first, {"id": 4, "at": _AT}), _frame(unknown, {"id": 5, "at": _AT}))

    for delivered, failed in ((2, ["SchemaResolutionFailure"] * 2), (0, [])):
        told = made.deliver()
        assert told[:2] == (delivered, failed)
        assert "offset 1 of partition 0" in told[2]
        assert "schema evolution is not supported" in told[2]
    assert [row["id"] for row in made.rows()] == [1, 2]
    with pytest.raises(made.kafka.exceptions.BadRequestException, match="the channel's own kind"):
        made.update(S3DestinationUpdate={"DataFreshnessInSeconds": 300})
    made.update(IcebergDestinationUpdate={"DataFreshnessInSeconds": 300})
    shown = made.describe()["IcebergDestinationConfiguration"]["DataFreshnessInSeconds"]
    assert shown == 300


def test_records_are_objects_in_a_bucket(made):
    template = "!{topic-name}/!{partition-id}/!{kafka-offset}"
    assert made.begin_to_bucket("JSON", OutputKeyTemplate=template)["Status"] == "ACTIVE"

    made.produce({"a": 1}, {"b": 2, "new": 3})
    made.produce("{", {"c": 4})

    assert made.deliver() == (3, ["MalformedRecord"], "")
    found = made.objects("out/")
    assert sorted(found.values()) == [b'{"a": 1}\n', b'{"b": 2, "new": 3}\n{"c": 4}\n']
    start = f"out/{made.topic}/"
    assert {key.removeprefix(start).partition("-")[0] for key in found} == {
        f"0/{0:018}",
        f"1/{0:018}",
    }
    listed = made.kafka.list_channels(ClusterArn=made.cluster_arn, TopicNameFilter=made.topic)
    assert [each["DestinationType"] for each in listed["Channels"]] == ["S3"]
    made.kafka.delete_channel(ClusterArn=made.cluster_arn, ChannelArn=made.arn)
    with pytest.raises(made.kafka.exceptions.NotFoundException):
        made.describe()


def test_a_channel_that_cannot_deliver_says_why(made):
    made.register(_schema())
    elsewhere = {"Condition": {"StringEquals": {"aws:SourceAccount": "222222222222"}}}
    iam = made.client("iam")
    cases = {
        "does not let kafka.amazonaws.com assume it": make_role(
            iam, trust(_trusting(), **elsewhere), allow(_RIGHTS)
        ),
        "is not authorized to perform: glue:GetSchemaVersion": make_role(
            iam, trust(_trusting()), allow([each for each in _RIGHTS if "glue" not in each])
        ),
    }
    for said, role in cases.items():
        found = made.begin("JSON", ServiceExecutionRoleArn=role)
        assert found["Status"] == "FAILED"
        assert said in found["StateInfo"]["Message"]
        made.kafka.delete_channel(ClusterArn=made.cluster_arn, ChannelArn=made.arn)
    assert made.begin("JSON")["Status"] == "ACTIVE"
    made.name += "-2"
    made.client("logs").create_log_group(logGroupName=f"/{made.name}")
    found = made.begin("JSON")
    assert found["StateInfo"]["Code"] == "TableAlreadyExists"


def test_a_right_that_is_taken_away_stops_the_delivery_until_it_is_back(made):
    made.register(_schema())
    assert made.begin("JSON")["Status"] == "ACTIVE"
    made.produce({"id": 1, "at": _AT})
    iam = made.client("iam")
    allow_role(made.role, iam, allow([each for each in _RIGHTS if "PutTableData" not in each]))

    delivered, failed, problem = made.deliver()

    assert (delivered, failed) == (0, [])
    assert "may not s3tables:PutTableData" in problem
    allow_role(made.role, iam, allow(_RIGHTS))
    assert made.deliver() == (1, [], "")
