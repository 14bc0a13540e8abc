"""What surrounds a job: the authorities that Java trusts, its archives, the places of its log."""

from __future__ import annotations

import secrets
import subprocess
import zipfile

import pytest
import trustme

from localcloud.authorities import Authorities
from localcloud.errors import JobFailedError, MissingToolError
from localcloud.identity.credentials import SessionKeys
from localcloud.jobs import deliver_logs, read_places, read_submission, spark
from localcloud.jobs.artifacts import fetch_archive
from localcloud.jobs.environment import Place, driver_variables
from localcloud.jobs.logs import _batches

_COMPILE = "spark.sql.codegen.wholeStage"
_NOWHERE = Place("arn:aws:iam::111111111111:role/job", "ec2.amazonaws.com", "EC2")


@pytest.fixture
def bucket(client):
    name = f"job-{secrets.token_hex(4)}"
    where = {"LocationConstraint": "eu-central-1"}
    client("s3").create_bucket(Bucket=name, CreateBucketConfiguration=where)
    return name


def describe(cloud, folder):
    key = cloud.state(SessionKeys).make("111111111111", 900)
    return driver_variables(cloud, _NOWHERE, key, folder)


def test_java_trusts_the_authorities_of_the_clusters(cloud, monkeypatch, tmp_path):
    files = [tmp_path / "one.pem", tmp_path / "other.pem"]
    for file in files:
        trustme.CA().cert_pem.write_to_path(str(file))
    monkeypatch.setattr(Authorities, "files", lambda _self: files)

    options = describe(cloud, tmp_path)["JAVA_TOOL_OPTIONS"]

    store = tmp_path / "authorities.p12"
    assert f'"-Djavax.net.ssl.trustStore={store}"' in options
    command = ["keytool", "-list", "-keystore", str(store), "-storepass", "changeit"]
    listed = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert listed.stdout.count("trustedCertEntry") == 2


def test_java_does_not_compile_for_a_long_life(cloud, tmp_path):
    assert " -XX:TieredStopAtLevel=1" in describe(cloud, tmp_path)["JAVA_TOOL_OPTIONS"]


def test_java_writes_into_the_folder_of_the_job(cloud, tmp_path):
    options = describe(cloud, tmp_path)["JAVA_TOOL_OPTIONS"]
    assert f'"-XX:-UsePerfData" "-Djava.io.tmpdir={tmp_path}"' in options


def test_java_uses_its_own_trust_store_without_authorities(cloud, monkeypatch, tmp_path):
    monkeypatch.setattr(Authorities, "files", lambda _self: [])
    assert "trustStore" not in describe(cloud, tmp_path)["JAVA_TOOL_OPTIONS"]


@pytest.mark.parametrize(("given", "used"), [({}, "false"), ({_COMPILE: "true"}, "true")])
def test_plans_are_not_compiled_unless_a_job_says_so(tmp_path, given, used):
    variables = {"AWS_ENDPOINT_URL": "http://127.0.0.1:1"}
    submission = read_submission("", given)
    job = spark.SparkJob("s3://b/job.py", (), submission, "eu-central-1", variables)

    found = [word for word in spark._settings(job, tmp_path) if word.startswith(f"{_COMPILE}=")]

    assert found == [f"{_COMPILE}={used}"]


def test_the_jars_for_s3_must_be_there(monkeypatch, tmp_path):
    monkeypatch.setattr(spark, "_S3_JARS", tmp_path)
    with pytest.raises(MissingToolError, match=rf"^no jars in {tmp_path}: run `localcloud fetch`$"):
        spark._fetch_files(read_submission("", {}), None, tmp_path, tmp_path)


def test_spark_unpacks_no_archive_from_which_python_imports(client, bucket, tmp_path):
    with zipfile.ZipFile(tmp_path / "any.zip", "w") as archive:
        archive.writestr("inside.txt", "inside")
    client("s3").upload_file(str(tmp_path / "any.zip"), bucket, "any.zip")
    settings = {
        "spark.archives": f"s3://{bucket}/any.zip#packages,s3://{bucket}/any.zip#box",
        "spark.executorEnv.PYTHONPATH": "./packages",
    }

    submission = read_submission("", settings)
    words = spark._fetch_files(submission, client("s3"), tmp_path / "job", tmp_path / "work")

    given = tmp_path / "job" / "archives" / "any.zip"
    assert words[words.index("--archives") + 1] == f"{given}#box"
    for name in ("packages", "box"):
        assert (tmp_path / "work" / name / "inside.txt").read_text() == "inside"


def test_an_archive_that_is_none_fails_the_run(client, bucket, tmp_path):
    client("s3").put_object(Bucket=bucket, Key="box.zip", Body=b"no zip")
    place = f"s3://{bucket}/box.zip"
    with pytest.raises(JobFailedError, match=f"^{place} cannot be unpacked: "):
        fetch_archive(client("s3"), f"{place}#box", tmp_path / "work", tmp_path / "scratch")


def test_a_log_that_cannot_be_delivered_is_reported(client, tmp_path):
    (tmp_path / "stdout").write_text("hello")
    nowhere = {"s3MonitoringConfiguration": {"logUri": "s3://no-such-bucket-here/logs"}}
    places = read_places("owner", nowhere, by_attempt=False)

    (problem,) = deliver_logs(places, client, {"stdout": tmp_path / "stdout"})

    assert problem.startswith("the log was not delivered: ")
    assert "NoSuchBucket" in problem


def test_a_long_log_goes_to_a_group_of_its_own_in_pieces(client, tmp_path):
    lines = [f"{number} {'x' * 900}" for number in range(1500)]  # more than one call takes
    (tmp_path / "stdout").write_text("\n\n".join(lines))
    (tmp_path / "stderr").write_text("not asked for")
    watched = {"enabled": True, "logTypes": {"SPARK_DRIVER": ["STDOUT"]}}
    places = read_places("owner", {"cloudWatchLoggingConfiguration": watched}, by_attempt=True)
    outputs = {name: tmp_path / name for name in ("stdout", "stderr")}

    assert deliver_logs(places.of_attempt(2), client, outputs) == []

    logs, group = client("logs"), "/aws/emr-serverless"
    streams = logs.describe_log_streams(logGroupName=group)["logStreams"]
    name = "owner/attempts/2/SPARK_DRIVER/stdout"
    assert [each["logStreamName"] for each in streams] == [name]
    pages = logs.get_paginator("filter_log_events").paginate(logGroupName=group)
    found = [event["message"] for page in pages for event in page["events"]]
    assert sorted(found) == sorted(lines)


def test_no_piece_of_a_log_is_more_than_cloudwatch_takes():
    lines = ["x" * 900] * 1500 + [""] + ["y"] * 25_000
    pieces = list(_batches(lines))
    assert [each["message"] for piece in pieces for each in piece] == [*filter(None, lines)]
    assert max(map(len, pieces)) <= 10_000
    assert max(sum(len(each["message"]) + 26 for each in piece) for piece in pieces) <= 1_048_576


def test_a_log_group_that_is_not_enabled_gets_nothing(client, tmp_path):
    disabled = {"cloudWatchLoggingConfiguration": {"enabled": False, "logGroupName": "/none"}}
    places = read_places("owner", disabled, by_attempt=False)
    assert deliver_logs(places, client, {"stdout": tmp_path / "stdout"}) == []
    assert client("logs").describe_log_groups(logGroupNamePrefix="/none")["logGroups"] == []
