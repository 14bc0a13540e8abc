"""KafkaSettings: what each way of logging in needs, and what has no use in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.errors import SettingsError
from penstock.kafka import KafkaSettings, Security

_SERVERS = {"KAFKA_BOOTSTRAP_SERVERS": "b-1.x:9098, b-2.x:9098"}
_ARN = "arn:aws:secretsmanager:eu-central-1:123456789012:secret:AmazonMSK_c-AbCdEf"


def _problems(environ: dict[str, str]) -> tuple[str, ...]:
    with pytest.raises(SettingsError) as caught:
        KafkaSettings.from_environ(environ)
    return caught.value.problems


def test_iam_is_the_default() -> None:
    settings = KafkaSettings.from_environ(_SERVERS | {"AWS_REGION": "eu-central-1"})

    assert settings.bootstrap_servers == ("b-1.x:9098", "b-2.x:9098")
    assert settings.security is Security.IAM


def test_a_stream_of_kinesis_is_refused_with_its_page() -> None:
    assert _problems(
        {"KAFKA_BOOTSTRAP_SERVERS": "kinesis://sensor", "AWS_REGION": "eu-west-1"}
    ) == (
        "KAFKA_BOOTSTRAP_SERVERS (--bootstrap-servers) is 'kinesis://sensor', expected brokers as "
        "host:port; Kafka alone carries records, Kinesis does not (docs/kinesis-or-msk.md says "
        "why)",
    )


def test_all_of_them_by_flag(tmp_path: Path) -> None:
    ca_file = tmp_path / "ca.pem"
    ca_file.touch()
    argv = (
        f"--bootstrap-servers b-1.x:9096 --security scram --secret-arn {_ARN} --ca-file {ca_file} "
        "--region eu-central-1 --role-arn arn:aws:iam::123456789012:role/r --external-id x"
    )

    settings = KafkaSettings.from_args(argv.split(), {})

    assert settings == KafkaSettings(
        bootstrap_servers=("b-1.x:9096",),
        security=Security.SCRAM,
        secret_arn=_ARN,
        ca_file=str(ca_file),
        region="eu-central-1",
        role_arn="arn:aws:iam::123456789012:role/r",
        external_id="x",
    )
    assert "external" not in repr(settings)


@pytest.mark.parametrize(
    ("environ", "problem"),
    [
        (
            {"KAFKA_SECURITY": "scram"},
            "KAFKA_SECRET_ARN (--secret-arn) is missing, expected with KAFKA_SECURITY scram",
        ),
        ({}, "AWS_REGION (--region) is missing, expected with KAFKA_SECURITY iam"),
        (
            {"AWS_REGION": "eu-central-1", "KAFKA_EXTERNAL_ID": "x"},
            "KAFKA_ROLE_ARN (--role-arn) is missing, expected with KAFKA_EXTERNAL_ID",
        ),
        (
            {"KAFKA_SECURITY": "tls", "KAFKA_CA_FILE": "no/such.pem"},
            "KAFKA_CA_FILE (--ca-file) is 'no/such.pem', expected a file that exists",
        ),
        (
            {"KAFKA_SECURITY": "plaintext", "KAFKA_SECRET_ARN": _ARN},
            "KAFKA_SECRET_ARN (--secret-arn) is given, expected none with KAFKA_SECURITY plaintext",
        ),
        (
            {"KAFKA_SECURITY": "tls", "KAFKA_ROLE_ARN": "arn:aws:iam::123456789012:role/r"},
            "KAFKA_ROLE_ARN (--role-arn) is given, expected none with KAFKA_SECURITY tls",
        ),
        (
            {"KAFKA_SECURITY": "plaintext", "KAFKA_CA_FILE": __file__},
            "KAFKA_CA_FILE (--ca-file) is given, expected none with KAFKA_SECURITY plaintext",
        ),
        (
            {"KAFKA_SECURITY": "sasl"},
            "KAFKA_SECURITY is 'sasl', expected how to log in: "
            "iam, scram, tls (a client certificate, or no login without a secret) or plaintext",
        ),
        (
            {"KAFKA_SECURITY": "scram", "KAFKA_SECRET_ARN": "AmazonMSK_c"},
            "KAFKA_SECRET_ARN is 'AmazonMSK_c', expected ARN of the Secrets Manager secret: "
            "for scram with username and password, for tls with certificate and privateKey",
        ),
        (
            {"KAFKA_SECURITY": "tls", "KAFKA_BOOTSTRAP_SERVERS": "b-1.x:9094;b-2.x"},
            "KAFKA_BOOTSTRAP_SERVERS is 'b-1.x:9094;b-2.x', expected "
            "brokers as host:port, separated by commas",
        ),
    ],
)
def test_settings_that_contradict_each_other_are_rejected(
    environ: dict[str, str], problem: str
) -> None:
    assert _problems(_SERVERS | environ) == (problem,)


def test_a_client_certificate_is_read_by_a_role() -> None:
    given = {"KAFKA_SECURITY": "tls", "KAFKA_SECRET_ARN": _ARN, "KAFKA_ROLE_ARN": "arn:aws:iam::1"}

    assert KafkaSettings.from_environ(_SERVERS | given).secret_arn == _ARN


def test_all_at_once() -> None:
    assert len(_problems({"KAFKA_SECURITY": "scram", "KAFKA_EXTERNAL_ID": "x"})) == 3
