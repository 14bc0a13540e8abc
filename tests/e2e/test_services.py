"""The story of two services that write to each other across accounts, with brokers killed."""

from __future__ import annotations

import pytest

from demo.accounts import REGION, Account, Local
from demo.screen import Steps
from demo.services.story import ServicesStory, make_services
from localcloud.command.instance import note_instance

pytestmark = [
    pytest.mark.terraform,
    pytest.mark.kafka,
    pytest.mark.e2e,
    pytest.mark.nightly,
    pytest.mark.timeout(3_600),
]
_MESSAGES = 10_000
_HOSTS = [f"service-{letter}-{number}" for letter in "ab" for number in (1, 2, 3)]


@pytest.fixture
def story(cloud, packages, tmp_path):
    """The accounts of the story; Terraform destroys what it makes in them."""
    note_instance(cloud.folder, cloud.endpoint)
    producer = Account("producer", "111111111111", Local(cloud.folder), tmp_path / "producer")
    producer.prepare(packages, cluster={"broker_count": 2}, region=REGION)
    services = make_services(producer, tmp_path / "services", packages)
    yield ServicesStory(producer, services)
    for account in (services, producer):
        account.run("destroy", "-auto-approve", "-input=false")


def test_six_processes_lose_no_message_and_may_do_no_more_than_they_are_granted(story, capsys):
    messages = story.tell(Steps())

    assert messages.find_lost() == set()
    assert len(messages.received) >= _MESSAGES
    assert sorted(messages.written) == _HOSTS
    printed = capsys.readouterr().out
    for service in "ab":
        name = f"service-{service}"
        assert f"{name}  services_{name}_a  services_{name}_b  " in printed
    assert printed.count("must write bar-topic, read bar-topic and join services-service-a-1") == 2
    assert printed.count("must write foo-topic, read foo-topic and join services-service-a-1") == 2
    assert printed.count("must write foo-topic, read bar-topic and join services-service-b-1") == 2
