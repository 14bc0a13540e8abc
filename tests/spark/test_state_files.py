"""Files beside a checkpoint: whole or not there."""

from __future__ import annotations

import secrets
from pathlib import Path
from unittest.mock import Mock, patch

import boto3
import pytest
from py4j.protocol import Py4JJavaError

from localcloud.faults import Faults, Kind
from penstock.errors import (
    CheckpointError,
    CheckpointInUseError,
    SettingsError,
    SinkAccessDeniedError,
)
from penstock.spark.state import files as state_files
from penstock.spark.state.files import StateFiles, read_text


@pytest.fixture
def files(spark, tmp_path):
    return StateFiles(spark, f"file://{tmp_path}/state")


def test_nothing_is_there(files: StateFiles) -> None:
    assert files.names() == []
    assert files.read("a") is None


def test_written_files_are_read(files: StateFiles) -> None:
    files.write("b", "zwei\n")
    files.write("a", "ü" * 100_000)

    assert files.names() == ["a", "b"]
    assert files.read("a") == "ü" * 100_000


def test_a_text_is_read_by_its_path_or_url(spark, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("zwei\n")
    for url in (f"{tmp_path}/a.json", f"file://{tmp_path}/a.json", f"file:{tmp_path}/a.json"):
        assert read_text(spark, url) == "zwei\n"
    with pytest.raises(SettingsError, match=r"^found no file file:/b, expected one that Spark can"):
        read_text(spark, "file:/b")
    with pytest.raises(SettingsError, match=r"^found no file b\.json, expected one that Spark can"):
        read_text(spark, "b.json")


def test_a_scheme_that_spark_does_not_know_is_named(spark) -> None:
    with pytest.raises(SettingsError) as caught:
        read_text(spark, "nosuch://b/k.json")

    assert str(caught.value) == (
        'nosuch://b/ cannot be used: No FileSystem for scheme "nosuch", expected a bucket that '
        "exists and a scheme that Spark knows: correct the path"
    )


def test_the_first_text_stays(files: StateFiles) -> None:
    files.write("a", "first")
    with pytest.raises(CheckpointInUseError, match=(
        r"state/a is there already, expected no other job that works with the checkpoint; end one"
    )):  # fmt: skip
        files.write("a", "second")

    assert files.read("a") == "first"
    assert files.names() == ["a"]


def test_half_a_file_does_not_count(files: StateFiles, tmp_path: Path) -> None:
    files.write("a", "whole")
    (tmp_path / "state" / ".b.123.tmp").write_text("ha")

    assert files.names() == ["a"]


def test_a_folder_that_is_a_file(spark, tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file")

    with pytest.raises(Py4JJavaError, match="exists and is not a directory"):
        StateFiles(spark, f"file://{tmp_path}/state").write("a", "text")


def test_a_failure_is_no_missing_file(files: StateFiles) -> None:
    with patch("penstock.spark.state.files._is", return_value=False):
        with pytest.raises(Py4JJavaError):
            files.read("a")
        with pytest.raises(Py4JJavaError):
            files.names()


def test_a_file_that_changed_since_it_was_written(files: StateFiles, tmp_path: Path) -> None:
    files.write("a", "whole")
    (tmp_path / "state" / "a").write_text("whale")

    with pytest.raises(CheckpointError, match=r"the file file:\S+/state/a does not match its ch"):
        files.read("a")


def test_a_file_replaces_all_before_it_by_the_next_number(files: StateFiles) -> None:
    files.replace("first")
    files.write(f"{2:020d}.json", "of a job that ended before it deleted the first one")

    files.replace("third")

    assert {name: files.read(name) for name in files.names()} == {f"{3:020d}.json": "third"}


def test_a_file_system_that_refuses(files: StateFiles) -> None:
    answers = ("hasPathCapability", "exists", "rename")
    files._files = Mock(**{f"{name}.return_value": False for name in answers})

    with pytest.raises(OSError, match=r"cannot write file:.*state/a: its file system refuses to"):
        files.write("a", "text")


def test_a_file_is_deleted_where_there_is_one(files: StateFiles) -> None:
    files.write("a", "text")

    files.delete("a")
    files.delete("a")

    assert files.names() == []


@pytest.fixture
def s3_folder(spark, cloud):
    """A folder of a bucket in localcloud, as jobs outside of EMR have it."""
    bucket = f"state-{secrets.token_hex(4)}"
    session = boto3.Session("111111111111", "any", region_name="eu-central-1")
    session.client("s3", endpoint_url=cloud.endpoint).create_bucket(
        Bucket=bucket, CreateBucketConfiguration={"LocationConstraint": "eu-central-1"}
    )
    settings = {
        "access.key": "111111111111", "secret.key": "any", "endpoint": cloud.endpoint,
        "endpoint.region": "eu-central-1", "path.style.access": "true",
    }  # fmt: skip
    hadoop = spark.sparkContext._jsc.hadoopConfiguration()
    for name, text in settings.items():
        hadoop.set(f"fs.s3a.{name}", text)
    return f"s3a://{bucket}/state"


@pytest.fixture(params=["read", "names", "write"])
def use(request):
    """One use of files, the first that a job may make."""
    return {
        "read": lambda files: files.read("a"),
        "names": lambda files: files.names(),
        "write": lambda files: files.write("a", "text"),
    }[request.param]


@pytest.mark.parametrize("use", ["names", "write"], indirect=True)
def test_a_bucket_that_does_not_exist_is_named(spark, s3_folder, use):
    with pytest.raises(SettingsError, match=(
        r"^s3a://none-there/c\S* cannot be used: .*, expected a bucket that exists and a scheme"
    )):  # fmt: skip
        use(StateFiles(spark, "s3a://none-there/c"))


def test_a_bucket_that_denies_access_is_named(spark, s3_folder, cloud, use):
    faults = cloud.state(Faults)
    faults.add(kind=Kind.ERROR, service="s3", code="AccessDenied", status=403)

    try:
        with pytest.raises(SinkAccessDeniedError, match=(
            rf"^{s3_folder}\S* cannot be used: .*403.*; expected a role that may list, read and "
            "write there: give the job's role the permissions, or correct the path$"
        )):  # fmt: skip
            use(StateFiles(spark, s3_folder))
    finally:
        faults.clear()


def test_a_file_is_written_though_the_answer_of_s3_was_lost(spark, s3_folder, cloud):
    files, faults = StateFiles(spark, s3_folder), cloud.state(Faults)
    lost = faults.add(kind=Kind.CUT, service="s3", operation="PutObject", calls=1)

    files.write("a", "text")

    assert lost.broken == 1
    assert files.read("a") == "text"
    faults.clear()


def test_one_of_two_drivers_writes_a_file_on_s3(spark, s3_folder, monkeypatch):
    """Also if one stalls at any moment of its write, as long as it likes."""
    first, second = StateFiles(spark, s3_folder), StateFiles(spark, s3_folder)
    fill = state_files._fill

    def fill_late(stream, text):
        monkeypatch.setattr(state_files, "_fill", fill)
        second.write("a", "second")
        fill(stream, text)

    monkeypatch.setattr(state_files, "_fill", fill_late)
    with pytest.raises(CheckpointInUseError, match=r"state/a is there already, expected no other"):
        first.write("a", "first")

    assert first.read("a") == "second"
    assert first.names() == ["a"]
    second.write("a", "second")  # as if the response to the first try had been lost
