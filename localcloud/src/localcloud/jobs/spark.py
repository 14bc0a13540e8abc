"""A job as a spark-submit: its files, its settings, and localcloud's additions."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from localcloud.jars import JARS, find_jars
from localcloud.jobs.artifacts import fetch, fetch_archive
from localcloud.jobs.class_archive import archive_options
from localcloud.jobs.driver import DriverLaunch
from localcloud.jobs.interpreter import load_spark_python
from localcloud.jobs.submission import Submission

_S3_JARS = JARS / "s3"
_DEFAULT_OPTIONS = "spark.driver.defaultJavaOptions"
_DRIVER_VARIABLES = "spark.emr-serverless.driverEnv."
# EMR writes files by S3A's committer, which asks the role for what a rename does not: its uploads
# stay open until the job commits, and are listed to abort those that it left; assumption
# `emr-committer`.
_COMMITTER = {
    "spark.hadoop.fs.s3a.committer.name": "magic",
    "spark.hadoop.mapreduce.outputcommitter.factory.scheme.s3": (
        "org.apache.hadoop.fs.s3a.commit.S3ACommitterFactory"
    ),
    "spark.sql.parquet.output.committer.class": (
        "org.apache.spark.internal.io.cloud.BindingParquetOutputCommitter"
    ),
    "spark.sql.sources.commitProtocolClass": (
        "org.apache.spark.internal.io.cloud.PathOutputCommitProtocol"
    ),
}
# Jobs here read little data, and compiling what runs a few times is a third of such a run.
_INTERPRETED = {
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.codegen.wholeStage": "false",
}


@dataclass(frozen=True, slots=True)
class SparkJob:
    """A submission with its region and the variables of role and network.

    `exported` are variables that a cluster sets for every driver.
    """

    entry_point: str
    arguments: tuple[str, ...]
    submission: Submission
    region: str
    variables: Mapping[str, str] = field(repr=False)
    exported: Mapping[str, str] = field(default_factory=dict)


def build_launch(job: SparkJob, s3: Any, folder: Path, log: Path) -> DriverLaunch:
    """Fetch a job's files into a folder and return the command that runs it there.

    Raises:
        JobFailedError: a file cannot be fetched.
    """
    python, work = load_spark_python(), folder / "work"
    work.mkdir(parents=True, exist_ok=True)
    entry_point = fetch(s3, job.entry_point, folder / "entry")
    command = [
        str(python.spark_home / "bin" / "spark-submit"),
        *job.submission.flags,
        *_fetch_files(job.submission, s3, folder, work),
        *_settings(job, folder),
        str(entry_point),
        *job.arguments,
    ]
    given = {**job.exported, **_driver_variables(job.submission)}
    path = [job.variables.get("PYTHONPATH"), given.get("PYTHONPATH")]  # the VPC's view comes first
    variables = {
        "PATH": os.environ["PATH"],
        **{name: os.environ[name] for name in ("JAVA_HOME",) if name in os.environ},
        "HOME": str(work),
        "LANG": "C.UTF-8",
        "TZ": ":UTC",
        "PYSPARK_PYTHON": str(python.interpreter),
        "PYSPARK_DRIVER_PYTHON": str(python.interpreter),
        **given,
        "SPARK_HOME": str(python.spark_home),
        "SPARK_LOCAL_DIRS": str(folder / "local"),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "AWS_REGION": job.region,
        "AWS_EC2_METADATA_DISABLED": "true",
        **job.variables,
        "PYTHONPATH": ":".join(filter(None, path)),
    }
    return DriverLaunch(tuple(command), work, variables, folder / "stdout", folder / "stderr", log)


def _fetch_files(submission: Submission, s3: Any, folder: Path, work: Path) -> list[str]:
    """Fetch the files named by flags; files and archives also go into the job's working folder."""
    scratch, imported = folder / "archives", _list_imported(submission)
    archives = {
        place: fetch_archive(s3, place, work, scratch) for place in submission.files["--archives"]
    }
    given = {
        "--jars": [str(fetch(s3, uri, folder / "jars")) for uri in submission.files["--jars"]],
        "--py-files": [
            str(fetch(s3, uri, folder / "py-files")) for uri in submission.files["--py-files"]
        ],
        "--files": [str(fetch(s3, uri, work)) for uri in submission.files["--files"]],
        # Spark unpacks each twice more, 2,000 files of boto3, for the driver and the executor.
        "--archives": [
            path for place, path in archives.items() if place.partition("#")[2] not in imported
        ],
    }
    # Beside the job's jars, so that all of Iceberg is in one class loader.
    own = {Path(path).name for path in given["--jars"]}
    given["--jars"] += [str(jar) for jar in find_jars(_S3_JARS) if jar.name not in own]
    return [word for flag, paths in given.items() if paths for word in (flag, ",".join(paths))]


def _list_imported(submission: Submission) -> set[str]:
    """Name the archives that Python imports from, in the working folder of driver and executor."""
    paths = [text for name, text in submission.settings.items() if name.endswith("Env.PYTHONPATH")]
    return {part.removeprefix("./") for path in paths for part in path.split(":") if part}


def _settings(job: SparkJob, folder: Path) -> list[str]:
    """Return the job's settings, overridden by localcloud's own."""
    endpoint, given = job.variables["AWS_ENDPOINT_URL"], job.submission.settings
    own = {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        # Before the job's own options, which win.
        _DEFAULT_OPTIONS: f"{archive_options()} {given.get(_DEFAULT_OPTIONS, '')}".strip(),
        "spark.ui.enabled": "false",
        "spark.hadoop.hadoop.tmp.dir": str(folder / "local"),
        # EMR has its own filesystem for this scheme.
        "spark.hadoop.fs.s3.impl": "org.apache.hadoop.fs.s3a.S3AFileSystem",
        "spark.hadoop.fs.AbstractFileSystem.s3.impl": "org.apache.hadoop.fs.s3a.S3A",
        "spark.hadoop.fs.s3a.endpoint": endpoint,
        "spark.hadoop.fs.s3a.endpoint.region": job.region,
        "spark.hadoop.fs.s3a.path.style.access": "true",
        "spark.hadoop.fs.s3a.connection.ssl.enabled": "false",
        "spark.hadoop.fs.s3a.aws.credentials.provider": (
            "software.amazon.awssdk.auth.credentials.EnvironmentVariableCredentialsProvider"
        ),
    }
    pairs = {**_COMMITTER, **_INTERPRETED, **given, **own}.items()
    words = [word for name, value in pairs for word in ("--conf", f"{name}={value}")]
    return ["--master", "local[*]", "--deploy-mode", "client", *words]


def _driver_variables(submission: Submission) -> dict[str, str]:
    return {
        name.removeprefix(_DRIVER_VARIABLES): value
        for name, value in submission.settings.items()
        if name.startswith(_DRIVER_VARIABLES)
    }
