"""A connector of MSK Connect in the producer's account, as `infra/extensions/cdc` has one.

Its connector class is the one of localcloud's tests: a small one, whose task fails when it is told
to say nothing.
"""

from __future__ import annotations

import subprocess
from base64 import b64encode
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from localcloud.jars import JARS
from localcloud.testing import make_zip, wait_until
from localcloud.testing.policies import allow, make_role, trust
from systems.java import SHORT_LIVED
from tests.e2e.accounts import Root

NAME: Final = "penstock-cdc-teller"
ALARM: Final = f"{NAME}-failed"
_SOURCE: Final = Path(__file__).parents[2] / "localcloud/tests/kafka/Teller.java"
_GROUP: Final = f"/aws/mskconnect/{NAME}"
_CONVERTER: Final = "org.apache.kafka.connect.storage.StringConverter"
_PROPERTIES: Final = f"key.converter={_CONVERTER}\nvalue.converter={_CONVERTER}\n"


@dataclass
class Connector:
    """A connector that runs, with its log group and its alarm."""

    root: Root
    folder: Path
    _made: dict[str, Any] = field(default_factory=dict)

    def create(self) -> None:
        """Create it with all that it needs, and wait until it runs."""
        connect = self.root.client("kafkaconnect")
        self.root.client("logs").create_log_group(logGroupName=_GROUP)
        self._create_alarm()
        self._made = {
            "customPluginArn": self._create_plugin(),
            "workerConfigurationArn": connect.create_worker_configuration(
                name=NAME, propertiesFileContent=_encode(_PROPERTIES)
            )["workerConfigurationArn"],
            "role": self._create_role(),
        }
        self._made["connectorArn"] = connect.create_connector(**self._request())["connectorArn"]
        wait_until(f"{NAME} is RUNNING", lambda: self._describe()["connectorState"] == "RUNNING")

    def fail(self) -> None:
        """Let its task fail, and wait until its alarm rings."""
        self.root.client("kafkaconnect").update_connector(
            connectorArn=self._made["connectorArn"],
            currentVersion=self._describe()["currentVersion"],
            connectorConfiguration=_configure(says=""),
        )
        wait_until("its alarm rings", self._rings)

    def _rings(self) -> bool:
        """Let a period pass, and return whether the alarm rings."""
        self.root.local.ask("pass-minutes", minutes=5)
        found = self.root.client("cloudwatch").describe_alarms(AlarmNames=[ALARM])
        return bool(found["MetricAlarms"][0]["StateValue"] == "ALARM")

    def delete(self) -> None:
        """Delete it and all that was created for it."""
        connect = self.root.client("kafkaconnect")
        connect.delete_connector(connectorArn=self._made["connectorArn"])
        wait_until("it is gone", lambda: not connect.list_connectors()["connectors"])
        connect.delete_worker_configuration(
            workerConfigurationArn=self._made["workerConfigurationArn"]
        )
        connect.delete_custom_plugin(customPluginArn=self._made["customPluginArn"])
        self.root.client("logs").delete_log_group(logGroupName=_GROUP)
        self.root.client("cloudwatch").delete_alarms(AlarmNames=[ALARM])
        s3, iam = self.root.client("s3"), self.root.client("iam")
        s3.delete_object(Bucket=NAME, Key=NAME)
        s3.delete_bucket(Bucket=NAME)
        role = self._made["role"].rpartition("/")[2]
        iam.delete_role_policy(RoleName=role, PolicyName="inline")
        iam.delete_role(RoleName=role)

    def _describe(self) -> Any:
        connect = self.root.client("kafkaconnect")
        return connect.describe_connector(connectorArn=self._made["connectorArn"])

    def _create_plugin(self) -> str:
        words = ["javac", f"-J{SHORT_LIVED[0]}", "-cp", f"{JARS}/connect/*", "-d", str(self.folder)]
        subprocess.run([*words, str(_SOURCE)], check=True)
        classes = {path.name: path.read_bytes() for path in self.folder.glob("*.class")}
        s3, connect = self.root.client("s3"), self.root.client("kafkaconnect")
        where = {"LocationConstraint": s3.meta.region_name}
        s3.create_bucket(Bucket=NAME, CreateBucketConfiguration=where)
        s3.put_object(Bucket=NAME, Key=NAME, Body=make_zip({"teller.jar": make_zip(classes)}))
        place = {"bucketArn": f"arn:aws:s3:::{NAME}", "fileKey": NAME}
        made = connect.create_custom_plugin(
            name=NAME, contentType="ZIP", location={"s3Location": place}
        )
        return str(made["customPluginArn"])

    def _create_role(self) -> str:
        who = trust({"Service": "kafkaconnect.amazonaws.com"})
        return make_role(self.root.client("iam"), who, allow("kafka-cluster:*"))

    def _create_alarm(self) -> None:
        self.root.client("cloudwatch").put_metric_alarm(
            AlarmName=ALARM,
            Namespace="AWS/KafkaConnect",
            MetricName="ErroredTaskCount",
            Dimensions=[{"Name": "ConnectorName", "Value": NAME}],
            Statistic="Maximum",
            ComparisonOperator="GreaterThanThreshold",
            Threshold=0,
            Period=300,
            EvaluationPeriods=1,
        )

    def _request(self) -> dict[str, Any]:
        """Return the request of a connector in the network of the producer function."""
        shown = self.root.client("lambda").get_function_configuration(
            FunctionName="penstock-producer"
        )["VpcConfig"]
        vpc = {"subnets": shown["SubnetIds"], "securityGroups": shown["SecurityGroupIds"]}
        servers = self.root.outputs()["platform"]["brokers"]["bootstrap_servers"]
        plugin = {"customPluginArn": self._made["customPluginArn"], "revision": 1}
        configuration = self._made["workerConfigurationArn"]
        log = {"cloudWatchLogs": {"enabled": True, "logGroup": _GROUP}}
        return {
            "connectorName": NAME,
            "kafkaConnectVersion": "3.7.x",
            "capacity": {"provisionedCapacity": {"mcuCount": 1, "workerCount": 1}},
            "connectorConfiguration": _configure(says="first"),
            "kafkaCluster": {"apacheKafkaCluster": {"bootstrapServers": servers, "vpc": vpc}},
            "kafkaClusterClientAuthentication": {"authenticationType": "IAM"},
            "kafkaClusterEncryptionInTransit": {"encryptionType": "TLS"},
            "plugins": [{"customPlugin": plugin}],
            "workerConfiguration": {"workerConfigurationArn": configuration, "revision": 1},
            "serviceExecutionRoleArn": self._made["role"],
            "logDelivery": {"workerLogDelivery": log},
        }


def _configure(says: str) -> dict[str, str]:
    return {
        "connector.class": "Teller",
        "tasks.max": "1",
        "topic": "told",
        "topic.creation.default.replication.factor": "2",
        "topic.creation.default.partitions": "1",
        "says": says,
    }


def _encode(text: str) -> str:
    return b64encode(text.encode()).decode()
