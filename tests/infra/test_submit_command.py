"""The commands that submit Spark jobs: a shell and the service take them as they are meant."""

from __future__ import annotations

import json
import re
import shlex
import subprocess

import botocore.session
import pytest
from botocore.validate import ParamValidator

from penstock.extensions.staging.spark import StageSettings
from penstock.settings import describe_settings
from penstock.spark import ConsumeSettings, MaintainSettings, ReplaySettings
from penstock.spark.session import session_settings
from tests.infra.plans import ROOT
from tools.hcl import read_file

pytestmark = pytest.mark.terraform

_TEMPLATE = ROOT / "infra/modules/spark-jobs/submit.tftpl"
_ROLE = "arn:aws:iam::222222222222:role/penstock-analytics-job-consume"
_ARGUMENTS = ["--say", 'it\'s <"fine"> & $HOME `id` \\ ${x}', "%{if}", "", "ü\n"]
_VALUES = {
    "application_id": "00f1a2b3c4d5e6f7",
    "arguments": _ARGUMENTS,
    "configuration": {"spark.driver.extraJavaOptions": "-Da='b' -Dc=\"d\""},
    "entry_point": "s3://penstock-analytics-artifacts/jobs/consume.py",
    "log_group": "/aws/emr-serverless/penstock-analytics-spark",
    "mode": "STREAMING",
    "name": "consume",
    "parameters": "--py-files s3://b/pyfiles/penstock.zip",
    "region": "eu-central-1",
    "role_arn": _ROLE,
    "timeout_minutes": 0,
}


@pytest.fixture(scope="module")
def words(tmp_path_factory):
    """The command as a shell divides it, by the name of the option that each word belongs to."""
    folder = tmp_path_factory.mktemp("console")
    (folder / "values.json").write_text(json.dumps(_VALUES))
    values = f'jsondecode(file("{folder}/values.json"))'
    done = subprocess.run(
        ["terraform", "console"],
        input=f'base64encode(templatefile("{_TEMPLATE}", {values}))',
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    said = subprocess.run(
        ["base64", "--decode"],
        input=done.stdout.strip('"\n').encode(),
        capture_output=True,
        check=True,
    )
    command = said.stdout.decode()
    shown = subprocess.run(
        ["bash", "-c", f"aws() {{ printf '%s\\0' \"$@\"; }}; {command}"],
        capture_output=True,
        text=True,
        check=True,
    )
    divided = shown.stdout.split("\0")[:-1]
    assert divided == shlex.split(command)[1:]
    assert divided[:2] == ["emr-serverless", "start-job-run"]
    return dict(zip(divided[2::2], divided[3::2], strict=True))


def test_arguments_come_through_a_shell_as_they_are(words):
    submitted = json.loads(words["--job-driver"])["sparkSubmit"]
    assert submitted["entryPointArguments"] == _ARGUMENTS
    assert submitted["entryPoint"] == _VALUES["entry_point"]
    assert submitted["sparkSubmitParameters"] == _VALUES["parameters"]


def test_settings_may_hold_blanks(words):
    (given,) = json.loads(words["--configuration-overrides"])["applicationConfiguration"]
    assert given == {"classification": "spark-defaults", "properties": _VALUES["configuration"]}


def test_a_job_starts_with_the_settings_that_its_session_is_checked_for():
    given = json.loads((ROOT / "infra/modules/session.json").read_text())
    assert given == session_settings()


@pytest.mark.parametrize(
    ("job", "settings"),
    [
        ("consume", ConsumeSettings),
        ("maintain_lake", MaintainSettings),
        ("replay", ReplaySettings),
        ("stage", StageSettings),
    ],
)
def test_a_flag_that_is_free_is_one_of_its_job_that_nothing_else_says(job, settings):
    spark = ROOT / "infra/modules/job/main.tf"
    (text,) = (one.arguments["free_flags"] for one in read_file(spark) if one.kind == "locals")
    free = json.loads(re.search(rf"{job} += (\[.*\])", text)[1])
    known = {row.flag for row in describe_settings(settings)}
    words = "".join(path.read_text() for path in spark.parent.glob("*.tf"))
    # The prefix of groups may be longer than the user's: the word that comes last counts.
    said = set(re.findall(r'"(--[a-z-]+)"', words)) - {"--group-prefix"}
    assert {f"--{flag}" for flag in free} <= known - said


def test_the_service_knows_all_that_is_given(words):
    given = {
        "applicationId": words["--application-id"],
        "clientToken": "token",
        "configurationOverrides": json.loads(words["--configuration-overrides"]),
        "executionRoleArn": words["--execution-role-arn"],
        "executionTimeoutMinutes": json.loads(words["--execution-timeout-minutes"]),
        "jobDriver": json.loads(words["--job-driver"]),
        "mode": words["--mode"],
        "name": words["--name"],
        "retryPolicy": json.loads(words["--retry-policy"]),
    }
    assert len(words) == len(given)  # the region, in the place of the token
    service = botocore.session.get_session().get_service_model("emr-serverless")
    shape = service.operation_model("StartJobRun").input_shape
    assert ParamValidator().validate(given, shape).generate_report() == ""
    assert (words["--execution-role-arn"], words["--region"]) == (_ROLE, "eu-central-1")
    logged = given["configurationOverrides"]["monitoringConfiguration"]
    assert logged["cloudWatchLoggingConfiguration"]["logGroupName"] == _VALUES["log_group"]
