"""Registries by URL, and what is wrong with those that name none."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

from penstock import registry as package
from penstock.aws import Timeouts
from penstock.errors import SettingsError
from penstock.registry import (
    ApicurioRegistry,
    ConfluentRegistry,
    GlueRegistry,
    GlueSettings,
    HttpRegistrySettings,
    SchemaVersion,
    load,
    load_registry,
)
from penstock.registry.memory import MemoryRegistry
from penstock.schemas import Compatibility, Schema


def test_the_time_limit_of_a_call_can_be_set() -> None:
    registry = load_registry("glue://plant?region=eu-central-1", call_seconds=2)

    assert isinstance(registry, GlueRegistry)
    assert registry._attempts.total_seconds == 2
    assert registry._glue.timeouts == Timeouts(2, 2)
    assert isinstance(load_registry("memory://", call_seconds=2), MemoryRegistry)


def test_glue_is_configured_by_its_url() -> None:
    role = "arn:aws:iam::111122223333:role/reader"

    registry = load_registry(
        f"glue://plant%23a?region=eu-central-1&role_arn={role}&external_id=agreed"
        "&endpoint=http://127.0.0.1:4566&allow=plant/*&allow=*/orders&compatibility=FULL"
    )

    assert isinstance(registry, GlueRegistry)
    assert registry._settings == GlueSettings(
        "plant#a",
        "eu-central-1",
        role,
        "agreed",
        "http://127.0.0.1:4566",
        ("plant/*", "*/orders"),
        Compatibility.FULL,
    )
    assert load_registry(f"{registry.source}").source == registry.source


def test_registries_over_http_are_configured_by_their_urls() -> None:
    registry = load_registry(
        "confluent+https://me@h:8081/a/b?secret=s.json&ca_file=ca.pem&naming=topic-record&topic=t"
        "&allow=a&allow=b*&compatibility=FULL_ALL",
        call_seconds=2,
    )
    other = load_registry("apicurio+http://h?group=plant")

    assert isinstance(registry, ConfluentRegistry)
    assert registry._settings == HttpRegistrySettings(
        "confluent+https",
        "h:8081/a/b",
        "me",
        "s.json",
        "ca.pem",
        "topic-record",
        "t",
        "",
        ("a", "b*"),
        Compatibility.FULL_ALL,
        2,
    )
    assert registry._settings.url == "https://h:8081/a/b"
    shown = "confluent+https://h:8081/a/b?topic=t&naming=topic-record&allow=a&allow=b*"
    assert registry.source == shown
    assert load_registry(registry.source).source == registry.source
    assert isinstance(other, ApicurioRegistry)
    assert other.source == "apicurio+http://h?group=plant"


def test_memory_needs_no_option() -> None:
    registry = load_registry("memory://?compatibility=NONE")
    schema: Schema = {"type": "record", "name": "Reading", "fields": []}

    version = registry.register("readings", schema).version

    assert isinstance(registry, MemoryRegistry)
    assert isinstance(version, SchemaVersion)
    assert registry.source == "memory://"
    assert load_registry("memory://").versions("readings") == ()


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("", r"has no kind before ://, expected one of glue, memory, confluent\+http"),
        ("s3://x?external_id=agreed", "begins with 's3', expected one of glue"),
        ("glue://", "glue:// names no registry, expected glue://NAME"),
        ("glue://[plant", "registry URL is no URL, expected SCHEME://NAME"),
        ("glue://me:agreed\u2100@x", "registry URL is no URL, expected SCHEME://NAME"),
        ("glue://plant/readings?region=eu-central-1", "has a path or a #, expected .OPTIONS after"),
        ("glue://plant#a?region=eu-central-1", r"after the name \(%23 for # in it\)"),
        (
            "glue://plant?region=eu+west",
            r"glue://plant\?region=eu\+west cannot be used: Provided reg",
        ),
        ("glue://plant?region=eu-west-1&endpoint=x", "endpoint=x cannot be used: Invalid endpoint"),
        ("glue://plant?regoin=x", "has no option 'regoin', expected allow, compatibility, endpo"),
        ("glue://plant?region=a&region=b", "option region is given 2 times"),
        ("glue://plant?region=", "option region is empty"),
        ("glue://plant?region=eu-central-1&allow=plant", "'plant' is not of the form REGISTRY/SCH"),
        ("glue://plant?region=eu-central-1&allow=a/b/c", "'a/b/c' is not of the form"),
        ("glue://plant?compatibility=LOOSE", "compatibility is 'LOOSE', expected one of NONE, DIS"),
        ("memory://x", "memory:// has no name, found 'x'"),
        ("memory://?region=a", "memory:// has no option 'region', expected compatibility"),
        ("confluent+http://me:agreed@h", r"//h holds a password, .*, as secret=ARN or secret=PATH"),
        ("confluent+http://", r"confluent\+http:// has no valid host, expected HOST or HOST:PORT"),
        ("apicurio+http://h:a", r"apicurio\+http:// has no valid host, expected HOST or HOST:PORT"),
        ("confluent+http://h#a", "has no valid host"),
        ("confluent+http://h?group=a", "has no option 'group', expected allow, ca_file, compat"),
        ("confluent+http://h?naming=a", "naming is 'a', expected one of topic, record, topic-reco"),
        ("confluent+http://h?naming=topic-record", "takes the option topic with naming=topic-rec"),
        ("confluent+http://h?topic=a", "takes the option topic with naming=topic-record only"),
        ("confluent+http://h?compatibility=LOOSE", "compatibility is 'LOOSE', expected one of"),
    ],
)
def test_a_url_that_names_no_registry_is_refused(url: str, message: str) -> None:
    with pytest.raises(SettingsError, match=message) as caught:
        load_registry(url)

    assert "agreed" not in str(caught.value)


def test_all_problems_of_a_url_are_in_one_error() -> None:
    with pytest.raises(SettingsError) as caught:
        load_registry("glue://?regoin=x&region=")

    assert len(caught.value.problems) == 3


def test_boto3_is_imported_only_when_it_is_needed() -> None:
    code = (
        "import sys; from penstock.registry import load_registry; load_registry('memory://'); "
        "print('boto3' in sys.modules)"
    )

    output = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=True, text=True
    )

    assert output.stdout == "False\n"


def test_an_unknown_name_of_the_package_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'ZooRegistry'"):
        package.ZooRegistry  # noqa: B018


# A distribution that is installed beside ours, as pip leaves it.
_FAKE = {
    "fake_registry.py": """
from penstock.registry.memory import MemoryRegistry

class FakeRegistry(MemoryRegistry):
    def __init__(self, url, call_seconds):
        super().__init__()
        self.url, self.call_seconds = url, call_seconds

def load(url, *, call_seconds=None):
    return FakeRegistry(url, call_seconds)

def load_late(url):
    return FakeRegistry(url, None)

def build_little(url, *, call_seconds=None):
    return {}

TRU = "load"
""",
    "fake_registry-1.0.dist-info/METADATA": (
        "Metadata-Version: 2.1\nName: fake-registry\nVersion: 1.0\n"
    ),
    "fake_registry-1.0.dist-info/entry_points.txt": (
        "[penstock.registries]\nfake = fake_registry:load\n"
    ),
}


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, text in _FAKE.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.syspath_prepend(tmp_path)


@pytest.mark.usefixtures("installed")
def test_a_registry_of_another_distribution_is_found_by_its_scheme() -> None:
    registry: Any = load_registry("fake://plant/path?a=b", call_seconds=2)

    assert type(registry).__name__ == "FakeRegistry"
    assert (registry.url, registry.call_seconds) == ("fake://plant/path?a=b", 2)


@pytest.mark.usefixtures("installed")
def test_an_unknown_scheme_is_answered_with_those_installed() -> None:
    with pytest.raises(SettingsError, match=r"expected one of glue, .*, fake$"):
        load_registry("other://plant")


# Each is the value of the entry point `fake`, and what is said of it.
_UNFIT = {
    "no_such:load": "cannot be loaded: ModuleNotFoundError: No module named 'no_such'",
    "fake_registry:lod": "cannot be loaded: AttributeError: module 'fake_registry' has no .*",
    "fake_registry:TRU": "cannot be loaded: TypeError: .* is not a callable object",
    "fake_registry:load_late": "cannot be loaded: TypeError: .* argument 'call_seconds'",
}


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(("value", "problem"), _UNFIT.items())
def test_an_entry_point_that_builds_no_registry_is_named(
    value: str, problem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    _name(value, monkeypatch)

    expected = "expected a function of a URL and call_seconds"
    with pytest.raises(
        SettingsError, match=f"^penstock.registries: fake .* {problem}; {expected}$"
    ):
        load_registry("fake://plant")


@pytest.mark.usefixtures("installed")
def test_what_is_built_without_the_parts_of_a_registry_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _name("fake_registry:build_little", monkeypatch)

    with pytest.raises(SettingsError) as refused:
        load_registry("fake://plant")
    assert str(refused.value) == (
        "penstock.registries: fake (fake_registry:build_little) built a dict without kind, "
        "source, expected a SchemaRegistry"
    )


def _name(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    point = EntryPoint("fake", value, "penstock.registries")
    monkeypatch.setattr(load, "entry_points", lambda group: [point])
