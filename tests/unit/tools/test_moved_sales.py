"""Blocks for the resources of jobs of sales, and for no others."""

from __future__ import annotations

import pytest

from tools.moved_sales import make_blocks

_SPARK, _NEW = 'module.spark["spark"]', "module.sales.module.jobs"


@pytest.mark.parametrize(
    "resource",
    [
        'aws_iam_role.job["shop"]',
        'aws_iam_role_policy.work["shop"]',
        'aws_ssm_parameter.this["shop/bucket"]',
        'module.long_policy["shop"].aws_iam_policy.this["1"]',
        'module.schedule["shop-summarize"].aws_scheduler_schedule.this',
    ],
)
@pytest.mark.parametrize("form", ["", ".module.jobs"])
def test_what_a_job_has_is_moved_from_where_it_is_after_the_upgrade(resource, form):
    (block,) = make_blocks([f"{_SPARK}{form}.{resource}"], ["other", "shop"])

    assert block == (
        f"moved {{\n  from = {_SPARK}.module.jobs.{resource}\n  to   = {_NEW}.{resource}\n}}"
    )


def test_the_program_and_the_alarm_of_a_schedule_are_moved_too():
    alarm = 'aws_cloudwatch_metric_alarm.this["run-shop-summarize-dropped"]'
    program = f'{_SPARK}.aws_s3_object.upload["jobs/sales.py"]'

    blocks = list(make_blocks([f"module.alarms.{alarm}", program], ["shop"]))

    assert [block.splitlines()[1:3] for block in blocks] == [
        [
            f"  from = module.alarms.module.metrics.{alarm}",
            f"  to   = module.sales.module.alarms.{alarm}",
        ],
        [f"  from = {program}", "  to   = module.sales.aws_s3_object.program"],
    ]


@pytest.mark.parametrize(
    "address",
    [
        f'{_SPARK}.aws_iam_role.job["consume"]',
        f'{_SPARK}.aws_iam_role.job["shopping"]',
        f'{_SPARK}.aws_s3_object.upload["jobs/consume.py"]',
        'module.alarms.aws_cloudwatch_metric_alarm.this["shop-behind"]',
    ],
)
def test_what_others_have_stays(address):
    assert list(make_blocks([address], ["shop"])) == []
