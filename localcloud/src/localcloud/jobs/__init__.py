"""Job runs as processes: the submission, its spark-submit, its logs."""

from __future__ import annotations

from localcloud.jobs.class_archive import RECORDED_JOB, archive_options, archive_path
from localcloud.jobs.driver import Driver, DriverLaunch
from localcloud.jobs.environment import Place, driver_variables, take_role
from localcloud.jobs.execution import execute
from localcloud.jobs.logs import LogPlaces, deliver_logs, read_places
from localcloud.jobs.run import Attempt, JobRun, RetryRule, RunState
from localcloud.jobs.runner import JobSpec, Runner
from localcloud.jobs.spark import SparkJob, build_launch
from localcloud.jobs.submission import Command, Submission, read_command, read_submission

__all__ = [
    "RECORDED_JOB",
    "Attempt",
    "Command",
    "Driver",
    "DriverLaunch",
    "JobRun",
    "JobSpec",
    "LogPlaces",
    "Place",
    "RetryRule",
    "RunState",
    "Runner",
    "SparkJob",
    "Submission",
    "archive_options",
    "archive_path",
    "build_launch",
    "deliver_logs",
    "driver_variables",
    "execute",
    "read_command",
    "read_places",
    "read_submission",
    "take_role",
]
