"""Record the archive of the classes that Spark jobs load, for localcloud and the tests.

Usage: python tools/record_classes.py [--help]   (it does nothing where the archive is recorded)
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from contextlib import redirect_stderr
from pathlib import Path
from typing import Any

_ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(_ROOT))

import boto3  # noqa: E402

from localcloud.door.server import start_server  # noqa: E402
from localcloud.errors import JobFailedError  # noqa: E402
from localcloud.jobs import (  # noqa: E402
    RECORDED_JOB,
    Driver,
    SparkJob,
    archive_path,
    build_launch,
    read_submission,
)

_REGION, _PLACE = "eu-central-1", "s3://recorded"
_KEYS = {"AWS_ACCESS_KEY_ID": "111111111111", "AWS_SECRET_ACCESS_KEY": "any"}
_LAKE = "spark.sql.catalog.lake"
_QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
_SECONDS = 900


def record_classes(archive: Path) -> None:
    """Run the job on a localcloud of its own, and keep the archive that Java writes at its end."""
    shutil.rmtree(archive.parent, ignore_errors=True)
    archive.parent.mkdir(parents=True)
    with tempfile.TemporaryDirectory(dir=archive.parent) as scratch:
        folder = Path(scratch)
        # For the server's lines about idle connections.
        with (folder / "server.log").open("w") as said, redirect_stderr(said):
            server = start_server(folder / "localcloud", 0)
            try:
                _run_job(server.cloud.endpoint, folder, folder / archive.name)
            finally:
                server.stop()
        (folder / archive.name).rename(archive)


def _run_job(endpoint: str, folder: Path, recorded: Path) -> None:
    id_, key = _KEYS.values()
    session = boto3.Session(id_, key, region_name=_REGION)
    s3: Any = session.client("s3", endpoint_url=endpoint)
    s3.create_bucket(Bucket="recorded", CreateBucketConfiguration={"LocationConstraint": _REGION})
    for path in (RECORDED_JOB, *sorted(_ROOT.glob("jars/spark/lib/*.jar"))):
        s3.upload_file(str(path), "recorded", path.name)
    job = SparkJob(
        entry_point=f"{_PLACE}/{RECORDED_JOB.name}",
        arguments=(_PLACE,),
        submission=read_submission("", _settings(endpoint, recorded)),
        region=_REGION,
        variables={**_KEYS, "AWS_ENDPOINT_URL": endpoint},
    )
    driver = Driver(build_launch(job, s3, folder / "job", folder / "log"))
    if driver.wait(_SECONDS) != 0 or not recorded.exists():
        driver.end(0)
        said = (folder / "log").read_text(errors="replace")[-3_000:]
        raise JobFailedError(f"the job that loads classes failed: {said}")


def _settings(endpoint: str, recorded: Path) -> dict[str, str]:
    jars = sorted(_ROOT.glob("jars/spark/lib/*.jar"))
    archiving = f"-XX:ArchiveClassesAtExit={recorded} -Xlog:cds=off"
    return {
        "spark.jars": ",".join(f"{_PLACE}/{path.name}" for path in jars),
        "spark.driver.extraJavaOptions": f"{_QUICK} {archiving}",
        _LAKE: "org.apache.iceberg.spark.SparkCatalog",
        f"{_LAKE}.type": "glue",
        f"{_LAKE}.io-impl": "org.apache.iceberg.aws.s3.S3FileIO",
        f"{_LAKE}.client.region": _REGION,
        f"{_LAKE}.glue.endpoint": endpoint,
        f"{_LAKE}.s3.endpoint": endpoint,
        f"{_LAKE}.s3.path-style-access": "true",
    }


def main() -> None:
    """Record the archive, unless it exists."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    archive = archive_path()
    if not archive.exists():
        record_classes(archive)


if __name__ == "__main__":
    main()
