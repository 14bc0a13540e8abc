"""Extensions are tested with platforms of the same shape as those of the roots."""

from __future__ import annotations

import pytest

from tests.infra.plans import find_cases

# The first test that is run waits until all cases are planned.
pytestmark = [pytest.mark.terraform, pytest.mark.timeout(900)]

_NAMED = {str(case): case for case in find_cases()}
# By names that users give.
_MAPS = {
    "platform.brokers.logins",
    "platform.functions.producers",
    "platform.jobs.named",
    "platform.jobs.named.runs",
    "platform.lake.principals",
    "platform.lake.tables",
    "platform.store.errors",
    "platform.store.readings",
}
# Their attributes are of no type: ways out have several, and the others are texts by name.
_OPEN = {
    "platform.jobs.application.configuration",
    "platform.jobs.application.files",
    "platform.jobs.artifacts.archives",
    "platform.jobs.artifacts.configuration",
    "platform.jobs.artifacts.files",
    "platform.jobs.artifacts.programs",
    "platform.jobs.named.policies",
    "platform.network.egress",
    "platform.network.endpoint_security_group_ids",
}


@pytest.mark.parametrize(
    "cases",
    [
        (_NAMED["consumer-full"], _NAMED["quality-smallest"]),
        (_NAMED["producer-full"], _NAMED["cdc-smallest"]),
    ],
    ids=["consumer", "producer"],
)
def test_the_platform_of_cases_has_the_attributes_that_the_root_puts_out(cases, plan_case):
    root, extension = (plan_case(case).outputs["platform"] for case in cases)

    assert list(_attributes(extension, "platform")) == list(_attributes(root, "platform"))


def _attributes(value, path):
    """Go through the attributes of an object, by name."""
    if not isinstance(value, dict) or path in _OPEN:
        return
    if path in _MAPS:
        value = next(iter(value.values()))
    for name in sorted(value):
        yield f"{path}.{name}"
        yield from _attributes(value[name], f"{path}.{name}")
