"""The manifest and the images of the two services agree with the services and their page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from examples.services.service import ServiceSettings
from penstock.settings import describe_settings

_ROOT = Path(__file__).parents[3]
_SERVICES = _ROOT / "examples" / "services"
_PAGE = (_ROOT / "docs" / "services.md").read_text()
_PROGRAM = re.compile(
    r'(service-\w) = \{ topics = \["(.+?)"\], writes = \["(.+?)"\], group_prefix = "(.+?)" \}'
)
_GRANTED = {name: granted for name, *granted in _PROGRAM.findall(_PAGE)}
# An image, and what Docker copies files from.
_CONTEXTS = {"Dockerfile": _ROOT, "go/Dockerfile": _SERVICES / "go"}


@pytest.fixture(scope="module")
def parts():
    parsed = yaml.safe_load_all((_SERVICES / "kubernetes.yaml").read_text())
    return {(part["kind"], part["metadata"]["name"]): part for part in parsed}


def test_each_service_has_an_account_a_policy_and_pods(parts):
    kinds = {"ServiceAccount", "SecurityGroupPolicy", "Deployment"}

    assert set(parts) == {(kind, name) for kind in kinds for name in _GRANTED}
    assert {part["metadata"]["namespace"] for part in parts.values()} == {"kafka"}
    assert len(_GRANTED) == 2


@pytest.mark.parametrize("name", _GRANTED)
def test_the_variables_of_pods_are_what_the_service_reads_and_may(parts, name):
    listed = _pods(parts, name)["containers"][0]["env"]
    environ = {one["name"]: one["value"] for one in listed}
    settings = ServiceSettings.from_environ(environ)
    topic, written, prefix = _GRANTED[name]

    assert set(environ) <= {row.variable for row in describe_settings(ServiceSettings)}
    assert [variable for variable in environ if f"`{variable}`" not in _PAGE] == []
    assert (settings.topic1, settings.topic2) == (written, topic)
    assert settings.group.startswith(prefix)
    assert f"penstock-analytics-{name}-" in settings.kafka.secret_arn


@pytest.mark.parametrize("name", _GRANTED)
def test_pods_have_the_role_and_both_security_groups(parts, name):
    account = parts["ServiceAccount", name]["metadata"]
    policy = parts["SecurityGroupPolicy", name]["spec"]
    deployment = parts["Deployment", name]["spec"]
    labels = deployment["template"]["metadata"]["labels"]

    role = account["annotations"]["eks.amazonaws.com/role-arn"]
    assert role.endswith(f":role/penstock-analytics-client-{name}")
    assert _pods(parts, name)["serviceAccountName"] == name
    assert policy["podSelector"]["matchLabels"] == deployment["selector"]["matchLabels"] == labels
    assert len(set(policy["securityGroups"]["groupIds"])) == 2
    assert deployment["replicas"] == 3


@pytest.mark.parametrize("image", _CONTEXTS)
def test_an_image_copies_files_that_are_there(image):
    lines = (_SERVICES / image).read_text().splitlines()
    copied = [line.split()[1:-1] for line in lines if line.startswith("COPY ")]
    patterns = [word for words in copied for word in words if not words[0].startswith("--from=")]

    assert patterns
    assert [pattern for pattern in patterns if not list(_CONTEXTS[image].glob(pattern))] == []


def _pods(parts, name):
    return parts["Deployment", name]["spec"]["template"]["spec"]
