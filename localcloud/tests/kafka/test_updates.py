"""Changes of a cluster, one kind after the other; no broker is started."""

from __future__ import annotations

from localcloud.testing.certificates import PrivateAuthority
from tests.kafka.changing import refuse, update, wait_operation
from tests.kafka.requests import SCRAM_AND_IAM, list_brokers, open_to_vpcs, wait_for
from tests.refusals import refusal


def test_brokers_are_added_and_the_old_ones_stay(kafka, make_cluster, pretended):
    shown = make_cluster()
    before = list_brokers(kafka, shown["ClusterArn"])

    operation = update(kafka, "update_broker_count", shown, TargetNumberOfBrokerNodes=4)

    assert operation["OperationType"] == "INCREASE_BROKER_COUNT"
    assert operation["SourceClusterInfo"]["NumberOfBrokerNodes"] == 2
    assert operation["TargetClusterInfo"]["NumberOfBrokerNodes"] == 4
    after = list_brokers(kafka, shown["ClusterArn"])
    assert after[:2] == before
    assert [broker["BrokerId"] for broker in after] == [1, 2, 3, 4]
    assert after[2]["ClientSubnet"] == before[0]["ClientSubnet"]
    zones = {3: "eu-central-1a", 4: "eu-central-1b"}
    assert pretended[shown["ClusterName"]].done == [("add", zones)]


def test_broker_counts_that_do_not_fit_are_refused(kafka, make_cluster):
    shown = make_cluster()
    message = refuse(kafka, "update_broker_count", shown, TargetNumberOfBrokerNodes=3)
    assert "must be a multiple of Availability Zones" in message
    message = refuse(kafka, "update_broker_count", shown, TargetNumberOfBrokerNodes=2)
    assert message == "The cluster has 2 brokers; specify more than that, not 2"


def test_brokers_that_do_not_come_up_are_no_nodes(kafka, make_cluster, pretended):
    shown = make_cluster()
    pretended[shown["ClusterName"]].fails = OSError("no room for more")
    operation = update(
        kafka, "update_broker_count", shown, TargetNumberOfBrokerNodes=4, ends="UPDATE_FAILED"
    )
    assert operation["ErrorInfo"]["ErrorString"] == "no room for more"
    assert len(list_brokers(kafka, shown["ClusterArn"])) == 2


def test_volumes_grow(kafka, make_cluster):
    shown = make_cluster()
    all_of = {"KafkaBrokerNodeId": "All"}
    update(
        kafka,
        "update_broker_storage",
        shown,
        TargetBrokerEBSVolumeInfo=[all_of | {"VolumeSizeGB": 200}],
    )
    assert _volume(kafka, shown)["VolumeSize"] == 200
    shown = wait_for(kafka, shown["ClusterArn"])
    update(kafka, "update_storage", shown, VolumeSizeGB=300)
    assert _volume(kafka, shown)["VolumeSize"] == 300

    shown = wait_for(kafka, shown["ClusterArn"])
    message = refuse(kafka, "update_storage", shown, VolumeSizeGB=100)
    assert message == "A volume can only grow; it has 300 GiB"
    message = refuse(kafka, "update_storage", shown, StorageMode="TIERED")
    assert message == "localcloud has no tiered storage; StorageMode must be LOCAL"
    volumes = [{"KafkaBrokerNodeId": "1", "VolumeSizeGB": 400}]
    message = refuse(kafka, "update_broker_storage", shown, TargetBrokerEBSVolumeInfo=volumes)
    assert message == "The volumes of all brokers change together: KafkaBrokerNodeId ALL"


def test_the_instance_type_changes(kafka, make_cluster):
    shown = make_cluster()
    update(kafka, "update_broker_type", shown, TargetInstanceType="kafka.m7g.xlarge")
    shown = wait_for(kafka, shown["ClusterArn"])
    assert shown["BrokerNodeGroupInfo"]["InstanceType"] == "kafka.m7g.xlarge"
    message = refuse(kafka, "update_broker_type", shown, TargetInstanceType="kafka.m7g.xlarge")
    assert message == "The brokers are of type kafka.m7g.xlarge already"
    message = refuse(kafka, "update_broker_type", shown, TargetInstanceType="kafka.t3.small")
    assert message.startswith("Unsupported InstanceType specified. Valid values: [express.m7g.*")


def test_a_configuration_reaches_the_brokers(kafka, make_cluster, make_configuration, pretended):
    first = make_configuration("num.partitions=5")
    shown = make_cluster(ConfigurationInfo={"Arn": first, "Revision": 1})
    brokers = pretended[shown["ClusterName"]]
    assert brokers.properties == {"num.partitions": "5"}

    kafka.update_configuration(Arn=first, ServerProperties=b"num.partitions = 7\n")
    wanted = {"Arn": first, "Revision": 2}
    operation = update(kafka, "update_cluster_configuration", shown, ConfigurationInfo=wanted)

    assert operation["SourceClusterInfo"]["ConfigurationInfo"]["Revision"] == 1
    assert operation["TargetClusterInfo"]["ConfigurationInfo"]["Revision"] == 2
    assert brokers.properties == {"num.partitions": "7"}
    software = wait_for(kafka, shown["ClusterArn"])["CurrentBrokerSoftwareInfo"]
    assert software["ConfigurationRevision"] == 2


def test_configurations_that_do_not_fit_are_refused(kafka, make_cluster, make_configuration):
    shown = make_cluster()
    other = make_configuration("", KafkaVersions=["3.6.0"])
    message = refuse(
        kafka,
        "update_cluster_configuration",
        shown,
        ConfigurationInfo={"Arn": other, "Revision": 1},
    )
    assert message == f"The configuration {other} is for Kafka 3.6.0, not 3.9.x.kraft"
    message = refuse(
        kafka,
        "update_cluster_configuration",
        shown,
        ConfigurationInfo={"Arn": other, "Revision": 2},
    )
    assert message == "The configuration has no revision 2; the latest is 1"


def test_the_version_of_kafka_goes_up_only(kafka, make_cluster, make_configuration):
    shown = make_cluster()
    wanted = {"Arn": make_configuration("num.partitions=3"), "Revision": 1}
    update(
        kafka,
        "update_cluster_kafka_version",
        shown,
        TargetKafkaVersion="4.0.x.kraft",
        ConfigurationInfo=wanted,
    )
    shown = wait_for(kafka, shown["ClusterArn"])
    assert shown["CurrentBrokerSoftwareInfo"]["KafkaVersion"] == "4.0.x.kraft"
    assert shown["CurrentBrokerSoftwareInfo"]["ConfigurationArn"] == wanted["Arn"]
    message = refuse(kafka, "update_cluster_kafka_version", shown, TargetKafkaVersion="3.9.x.kraft")
    assert message == "Kafka 4.0.x.kraft cannot be updated to 3.9.x.kraft"


def test_logins_open_and_close_listeners(kafka, make_cluster, pretended):
    shown = make_cluster()
    scram = {"Sasl": {"Scram": {"Enabled": True}, "Iam": {"Enabled": False}}}
    update(kafka, "update_security", shown, ClientAuthentication=scram)
    assert pretended[shown["ClusterName"]].listeners == {"SCRAM"}
    answer = kafka.get_bootstrap_brokers(ClusterArn=shown["ClusterArn"])
    assert "BootstrapBrokerStringSaslIam" not in answer


def test_client_certificates_open_a_listener(kafka, client, make_cluster, pretended):
    shown, pca = make_cluster(), client("acm-pca")
    pending = pca.create_certificate_authority(
        CertificateAuthorityConfiguration={
            "KeyAlgorithm": "RSA_2048",
            "SigningAlgorithm": "SHA256WITHRSA",
            "Subject": {"CommonName": "Clients"},
        },
        CertificateAuthorityType="ROOT",
    )["CertificateAuthorityArn"]
    wanted = {**SCRAM_AND_IAM, "Tls": {"CertificateAuthorityArnList": [pending]}}
    message = refuse(kafka, "update_security", shown, ClientAuthentication=wanted)
    assert message == f"The private CA {pending} is PENDING_CERTIFICATE; specify one that is ACTIVE"
    wanted["Tls"]["CertificateAuthorityArnList"] = [PrivateAuthority.make(pca).arn]
    update(kafka, "update_security", shown, ClientAuthentication=wanted)
    assert pretended[shown["ClusterName"]].listeners == {"SCRAM", "IAM", "TLS"}
    answer = kafka.get_bootstrap_brokers(ClusterArn=shown["ClusterArn"])
    assert ":9094" in answer["BootstrapBrokerStringTls"]
    message = refuse(
        kafka,
        "update_connectivity",
        wait_for(kafka, shown["ClusterArn"]),
        ConnectivityInfo={"VpcConnectivity": {"ClientAuthentication": {"Tls": {"Enabled": True}}}},
    )
    assert message == "localcloud has no VPC connectivity with TLS; enable SCRAM or IAM"


def test_logins_that_are_not_given_stay(kafka, client, make_cluster, pretended):
    """So a login whose block Terraform no longer has is not closed."""
    authority = PrivateAuthority.make(client("acm-pca")).arn
    trusted = {"Tls": {"CertificateAuthorityArnList": [authority]}}
    shown = make_cluster(ClientAuthentication={**SCRAM_AND_IAM, **trusted})
    message = refuse(kafka, "update_security", shown, ClientAuthentication=SCRAM_AND_IAM)
    assert message.startswith("The request does not include any updates to the security setting")

    off = {"Tls": {"Enabled": False}}
    update(kafka, "update_security", shown, ClientAuthentication=off)

    shown = wait_for(kafka, shown["ClusterArn"])
    assert shown["ClientAuthentication"] == {**SCRAM_AND_IAM, **off}
    assert pretended[shown["ClusterName"]].listeners == {"SCRAM", "IAM"}
    refuse(kafka, "update_security", shown, ClientAuthentication={**SCRAM_AND_IAM, **off})


def test_encryption_changes_without_a_login(kafka, make_cluster):
    anyone = {"Unauthenticated": {"Enabled": True}}
    shown = make_cluster(ClientAuthentication=anyone)
    both = {"EncryptionInTransit": {"ClientBroker": "TLS_PLAINTEXT"}}
    update(kafka, "update_security", shown, EncryptionInfo=both)
    shown = wait_for(kafka, shown["ClusterArn"])
    expected = {"ClientBroker": "TLS_PLAINTEXT", "InCluster": True}
    assert shown["EncryptionInfo"]["EncryptionInTransit"] == expected
    refuse(kafka, "update_security", shown, EncryptionInfo=both)


def test_connectivity_opens_for_enabled_logins(kafka, make_cluster, make_configuration):
    scram = {"Sasl": {"Scram": {"Enabled": True}}}
    configuration = make_configuration("allow.everyone.if.no.acl.found=false")
    shown = make_cluster(
        ClientAuthentication=scram, ConfigurationInfo={"Arn": configuration, "Revision": 1}
    )
    update(kafka, "update_connectivity", shown, ConnectivityInfo=open_to_vpcs("Scram"))
    answer = kafka.get_bootstrap_brokers(ClusterArn=shown["ClusterArn"])
    first = answer["BootstrapBrokerStringVpcConnectivitySaslScram"].split(",")[0]
    assert first.startswith(f"b-1.scram.{shown['ClusterName']}.")
    assert first.endswith(":14001")

    shown = wait_for(kafka, shown["ClusterArn"])
    message = refuse(kafka, "update_connectivity", shown, ConnectivityInfo=open_to_vpcs("Iam"))
    assert message == (
        "VPC connectivity with IAM needs the same way to log in enabled for the cluster"
    )
    public = {"PublicAccess": {"Type": "SERVICE_PROVIDED_EIPS"}}
    message = refuse(kafka, "update_connectivity", shown, ConnectivityInfo=public)
    assert message == "localcloud has no public access to brokers"


def test_connectivity_with_scram_needs_acls(kafka, make_cluster):
    shown = make_cluster()

    message = refuse(kafka, "update_connectivity", shown, ConnectivityInfo=open_to_vpcs("Scram"))

    assert message == "VPC connectivity with SCRAM needs allow.everyone.if.no.acl.found=false"


def test_monitoring_is_shown(kafka, make_cluster):
    shown = make_cluster()
    update(kafka, "update_monitoring", shown, EnhancedMonitoring="PER_BROKER")
    shown = wait_for(kafka, shown["ClusterArn"])
    assert shown["EnhancedMonitoring"] == "PER_BROKER"
    message = refuse(kafka, "update_monitoring", shown)
    assert message == "Specify EnhancedMonitoring, OpenMonitoring or LoggingInfo"


def test_brokers_are_rebooted(kafka, make_cluster, pretended):
    shown = make_cluster()
    arn = shown["ClusterArn"]
    answer = kafka.reboot_broker(ClusterArn=arn, BrokerIds=["2"])
    wait_operation(kafka, answer["ClusterOperationArn"])
    assert pretended[shown["ClusterName"]].done == [("restart", 2)]
    code, message = refusal(kafka.reboot_broker, ClusterArn=arn, BrokerIds=["9"])
    assert code == "BadRequestException"
    assert message == f"{shown['ClusterName']} has no broker 9; there are 1, 2"


def _volume(kafka, shown):
    group = wait_for(kafka, shown["ClusterArn"])["BrokerNodeGroupInfo"]
    return group["StorageInfo"]["EbsStorageInfo"]
