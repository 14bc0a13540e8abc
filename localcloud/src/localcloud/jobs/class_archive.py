"""The archive of loaded classes (AppCDS), which halves the CPU seconds of a driver's start.

`tools/record_classes.py` of Penstock records it from `recorded_job.py`: 80 CPU
seconds once, and 10 to 12 in place of 20 for a driver with three statements. A static archive would
take two runs (`-Xshare:dump`); one server for all jobs would share what AWS separates. An archive
of a real job of Penstock, with Kafka and its decoder, was not faster in two pairs of runs. Jars in
`spark.driver.extraClassPath` stand before Spark's and switch the archive off, `--jars` does not.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from pathlib import Path

from localcloud.folders import CACHE
from localcloud.jars import JARS
from localcloud.jobs.interpreter import load_spark_python

RECORDED_JOB = Path(__file__).with_name("recorded_job.py")


def archive_path() -> Path:
    """Return the path of the archive, named by what it depends on: the JDK, the jars, the job.

    Java ignores an archive of another JDK, or of jars with another size or time.
    """
    home = os.environ.get("JAVA_HOME")
    java = Path(home, "bin", "java") if home else Path(shutil.which("java") or "java")
    jars = [*load_spark_python().spark_home.glob("jars/*.jar"), *JARS.glob("s3/*.jar")]
    digest = hashlib.sha256(RECORDED_JOB.read_bytes())
    for path in (Path(os.path.realpath(java)), *sorted(jars)):
        stat = path.stat()
        digest.update(f"{path} {stat.st_size} {stat.st_mtime_ns}\n".encode())
    return CACHE / "spark-classes" / f"{digest.hexdigest()[:16]}.jsa"


def archive_options() -> str:
    """Return the JVM options for the archive, none if there is no archive."""
    archive = archive_path()
    # If the archive does not fit, Java starts slower and would log that at each start.
    return f"-XX:SharedArchiveFile={archive} -Xlog:cds=off" if archive.exists() else ""
