"""Bootstrap actions: scripts from S3, run once in the cluster's folder as the instance profile.

The script sees the folder as its home and finds there first the programs below. Those that would
change this machine are refused with a sentence; on EMR they work.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from localcloud.cloud import Cloud
from localcloud.errors import JobFailedError, LocalcloudError
from localcloud.jobs import (
    Driver,
    DriverLaunch,
    LogPlaces,
    deliver_logs,
    driver_variables,
    take_role,
)
from localcloud.jobs.artifacts import fetch
from localcloud.jobs.interpreter import load_spark_python
from localcloud.network import find_source, load_network
from localcloud.services.emr.model import Cluster

HOME = "/home/hadoop"  # of the user hadoop on EMR's instances
_TIMEOUT_SECONDS = 3600  # EMR Management Guide, "Create bootstrap actions"
_REFUSED = (
    *("amazon-linux-extras", "apt-get", "chown", "curl", "dnf", "mount", "pip", "pip3", "rpm"),
    *("service", "su", "sudo", "systemctl", "useradd", "wget", "yum"),
)
_REFUSAL = """#!/bin/sh
echo "localcloud does not run {name} in a bootstrap action: it would change this machine or reach \
the internet; on EMR it works. Copy what the jobs need from S3 into \\$HOME." >&2
exit 126
"""
_AWS = """#!/bin/sh
exec "{python}" -m awscli "$@"
"""
_PYTHON = """#!/bin/sh
exec "{python}" "$@"
"""


class BootstrapFailedError(LocalcloudError):
    """A bootstrap action failed; the message is EMR's."""


def home_of(cluster: Cluster) -> Path:
    """Return the folder that stands for the home of the user hadoop."""
    return cluster.folder / "home"


def run_bootstrap_actions(cloud: Cloud, cluster: Cluster) -> None:
    """Run the bootstrap actions of a cluster, one after the other.

    Raises:
        BootstrapFailedError: one ended with another code than 0.
    """
    home_of(cluster).mkdir(parents=True)
    instance = cluster.groups[0]["Instances"][0]["Ec2InstanceId"]
    for number, each in enumerate(cluster.asked.get("BootstrapActions", []), 1):
        script, folder = each["ScriptBootstrapAction"], cluster.folder / f"bootstrap-{number}"
        folder.mkdir()
        try:
            code = _run(cloud, cluster, script, folder)
        except JobFailedError as error:
            (folder / "stderr").write_text(f"{error}\n")
            code = None
        (folder / "controller").write_text(f"{script['Path']} returned {code}\n")
        _deliver(cloud, cluster, folder, f"{instance}/bootstrap-actions/{number}")
        if code is None:
            said = f"On the master instance ({instance}), application provisioning failed: "
            raise BootstrapFailedError(f"{said}cannot download {script['Path']}")
        if code:
            raise BootstrapFailedError(
                f"On the master instance ({instance}), bootstrap action {number} returned a "
                "non-zero return code"
            )


def _run(cloud: Cloud, cluster: Cluster, script: Mapping[str, Any], folder: Path) -> int | None:
    key = take_role(cloud, cluster.place, cluster.id)
    variables = driver_variables(cloud, cluster.place, key, folder)
    path = fetch(_open_s3(cloud, cluster), script["Path"], folder)
    path.chmod(0o700)
    launch = DriverLaunch(
        ("/usr/bin/env", str(path), *script.get("Args", [])),
        home_of(cluster),
        {
            "PATH": f"{_write_programs(cluster.folder / 'bin')}:/usr/bin:/bin",
            "HOME": str(home_of(cluster)),
            "LANG": "C.UTF-8",
            "AWS_DEFAULT_REGION": cluster.region,
            "AWS_EC2_METADATA_DISABLED": "true",
            **variables,
        },
        folder / "stdout",
        folder / "stderr",
        cluster.folder.with_name(f"{cluster.id}.log"),
    )
    driver = Driver(launch)
    code = driver.wait(_TIMEOUT_SECONDS)
    if code is None:
        driver.end(0)
        return driver.wait(None)
    return code


def _write_programs(folder: Path) -> Path:
    """Write the programs that a script finds first."""
    folder.mkdir(exist_ok=True)
    programs = {name: _REFUSAL.format(name=name) for name in _REFUSED}
    programs["aws"] = _AWS.format(python=sys.executable)
    programs["python3"] = _PYTHON.format(python=load_spark_python().interpreter)
    for name, text in programs.items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o700)
    return folder


def _deliver(cloud: Cloud, cluster: Cluster, folder: Path, owner: str) -> None:
    if not cluster.log_uri:
        return
    outputs = {name: folder / name for name in ("controller", "stderr", "stdout")}
    printed = {name: path for name, path in outputs.items() if path.exists()}
    where = {"logUri": f"{cluster.log_uri}/{cluster.id}/node"}
    places = LogPlaces(owner, where, {}, worker="")
    for problem in deliver_logs(places, lambda _service: _open_s3(cloud, cluster), printed):
        with cluster.folder.with_name(f"{cluster.id}.log").open("a") as file:
            file.write(f"{problem}\n")


def _open_s3(cloud: Cloud, cluster: Cluster) -> Any:
    """Return a client of S3 with the role of the instance profile, in the cluster's VPC."""
    place = cluster.place
    network = load_network(cloud).environment_for(find_source(place.subnets, place.groups))
    key = take_role(cloud, place, cluster.id)
    return key.open_client("s3", cluster.region, network["AWS_ENDPOINT_URL"])
