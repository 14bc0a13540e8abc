"""Drivers use the archive of loaded classes where there is one, and start without it as well."""

from __future__ import annotations

from pathlib import Path

import pytest

from localcloud.jobs import class_archive, spark
from localcloud.jobs.submission import read_submission


@pytest.fixture
def archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "classes.jsa"
    monkeypatch.setattr(class_archive, "archive_path", lambda: path)
    return path


def _default_options(folder: Path, given: str) -> str:
    name = "spark.driver.defaultJavaOptions"
    submission = read_submission("", {name: given} if given else {})
    variables = {"AWS_ENDPOINT_URL": "http://127.0.0.1:1"}
    job = spark.SparkJob("s3://b/job.py", (), submission, "eu-central-1", variables)
    (found,) = (word for word in spark._settings(job, folder) if word.startswith(f"{name}="))
    return found.removeprefix(f"{name}=")


@pytest.mark.parametrize("given", ["", "-Xint"])
def test_a_driver_uses_the_archive_and_the_jobs_own_options(
    archive: Path, tmp_path: Path, given: str
) -> None:
    assert _default_options(tmp_path, given) == given
    archive.touch()
    ours = f"-XX:SharedArchiveFile={archive} -Xlog:cds=off"
    assert _default_options(tmp_path, given) == f"{ours} {given}".strip()


def test_an_archive_is_named_by_the_jdk_and_the_jars(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("one", "other"):
        (tmp_path / name / "bin").mkdir(parents=True)
        (tmp_path / name / "bin" / "java").write_text(name)
    jars = tmp_path / "s3"
    jars.mkdir(parents=True)
    monkeypatch.setattr(class_archive, "JARS", tmp_path)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "one"))
    first = class_archive.archive_path()
    (jars / "new.jar").touch()
    second = class_archive.archive_path()
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "other"))

    assert len({first, second, class_archive.archive_path()}) == 3
    assert class_archive.archive_path() == class_archive.archive_path()
