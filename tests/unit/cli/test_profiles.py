"""Settings come from flags, then the environment, then the profile of penstock.toml."""

from __future__ import annotations

import errno
import json
from pathlib import Path

import pytest

from penstock.cli import main
from penstock.cli.profiles import drop_profiles, find_profile, read_profiles, write_profiles
from penstock.errors import OperationError, SettingsError
from tests.fixtures.commands import read_json

_FILE = """
default = "analytics"

[profiles.analytics]
AWS_REGION = "eu-central-1"
KAFKA_CA_FILE = "ca.pem"
PENSTOCK_REGISTRY = "glue://theirs"

[profiles.billing]
PENSTOCK_REGISTRY = "glue://other"
"""


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "penstock.toml"
    path.write_text(_FILE)
    return path


def test_the_file_is_found_above_and_its_paths_are_its_own(config: Path) -> None:
    below = config.parent / "a" / "b"

    found = find_profile([], {}, below)

    assert (found.name, found.path) == ("analytics", config)
    assert found.values["KAFKA_CA_FILE"] == str(config.parent / "ca.pem")
    assert find_profile([], {}, None).values == {}


@pytest.mark.parametrize(
    ("words", "environ", "expected"),
    [
        (["--profile", "billing", "read", "sensor"], {}, "billing"),
        (["read", "sensor", "--profile=billing"], {}, "billing"),
        (["read"], {"PENSTOCK_PROFILE": "billing"}, "billing"),
        (["read", "--profile", "analytics"], {"PENSTOCK_PROFILE": "billing"}, "analytics"),
        (["read"], {}, "analytics"),
    ],
)
def test_a_profile_is_named_by_flag_or_variable_or_default(
    words: list[str], environ: dict[str, str], expected: str, config: Path
) -> None:
    assert find_profile(words, environ, config.parent).name == expected


def test_the_environment_comes_before_the_profile_and_a_flag_before_both(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    monkeypatch.setattr(
        "penstock.cli._schema.list_schemas", lambda registry: asked.append(registry) or []
    )
    environ = {"PENSTOCK_CONFIG": str(config)}
    mine = environ | {"PENSTOCK_REGISTRY": "glue://mine"}

    assert main(["schema", "list"], environ) == 0
    assert main(["schema", "list"], mine) == 0
    assert main(["schema", "list", "--registry", "glue://named"], mine) == 0
    assert main(["schema", "list"], environ | {"PENSTOCK_REGISTRY": ""}) == 0

    assert asked == ["glue://theirs", "glue://mine", "glue://named", "glue://theirs"]


def test_each_value_is_shown_with_its_place(
    config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    environ = {"PENSTOCK_CONFIG": str(config), "AWS_SECRET_ACCESS_KEY": "s3cret", "HOME": "/root"}
    words = ["config", "show"]

    assert main(words, environ | {"PENSTOCK_REGISTRY": "glue://mine"}) == 0
    shown = capsys.readouterr().out
    assert main([*words, "--output", "json", "--profile", "billing"], environ) == 0
    (found,) = read_json("config show", capsys.readouterr().out)

    assert "AWS_REGION = eu-central-1  (" in shown and "profile analytics)" in shown
    assert "PENSTOCK_REGISTRY = glue://mine  (environment)" in shown
    assert "s3cret" not in shown and "HOME" not in shown
    assert found["profile"] == "billing"
    assert found["settings"]["PENSTOCK_REGISTRY"]["value"] == "glue://other"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("profiles = 1", "has no profile"),
        ("[profiles.a]\nAWS_SECRET_ACCESS_KEY = 'x'", "AWS_SECRET_ACCESS_KEY is no setting"),
        ("[profiles.a]\nPENSTOCK_REGISTRY = 1", "PENSTOCK_REGISTRY is no text"),
        ("[profiles]\na = 1", "expected a table of settings"),
        ("[profiles.'a b']", "expected letters, digits, dashes"),
        ("colour = 'red'\n[profiles.a]", "has colour, expected default and profiles"),
        ("default = 1\n[profiles.a]", "default is 1"),
        ("default = 'b'\n[profiles.a]", "has no profile b, expected one of a"),
        ("[profiles.a]\n[profiles.b]", "has no default among several profiles"),
        ("[", "penstock.toml is not TOML: Invalid initial"),
        ("\udcff", "penstock.toml cannot be read: it is not text in UTF-8"),
    ],
)
def test_a_file_that_cannot_be_used_is_wrong_usage(
    text: str, problem: str, config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config.write_text(text, errors="surrogateescape")

    assert main(["schema", "list"], {"PENSTOCK_CONFIG": str(config)}) == 2

    assert problem in capsys.readouterr().err


@pytest.mark.parametrize("words", [["--profile", ""], ["--profile="]])
def test_the_flag_without_a_name_does_not_take_the_default(words: list[str], config: Path) -> None:
    with pytest.raises(SettingsError, match=r"^--profile is empty, expected the name of a profile"):
        find_profile(words, {"PENSTOCK_PROFILE": "billing"}, config.parent)


def test_a_profile_without_a_file_is_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--profile", "billing", "config", "show"], {}) == 2

    assert (
        "found no penstock.toml, expected one with the profile billing" in capsys.readouterr().err
    )


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"AWS_ACCESS_KEY_ID": ""}, ""),
        ({"AWS_ACCESS_KEY_ID": "AKIA"}, "AWS_ACCESS_KEY_ID"),
        ({"AWS_PROFILE": ""}, ""),
        ({"AWS_PROFILE": "theirs"}, ""),
        ({"AWS_PROFILE": "corp"}, "AWS_PROFILE"),
        ({"AWS_PROFILE": "corp", "AWS_ACCESS_KEY_ID": "AKIA"}, "AWS_ACCESS_KEY_ID"),
    ],
)
def test_credentials_of_the_environment_that_replace_those_of_a_profile_are_said(
    given: dict[str, str], said: str, config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_profiles(config, {"billing": {"AWS_PROFILE": "theirs"}})
    environ = {"PENSTOCK_CONFIG": str(config)} | given

    for profile in ("billing", "analytics"):
        assert main(["--profile", profile, "config", "show"], environ) == 0

    note = (
        f"penstock: the credentials are those of {said} in the environment, and not of 'theirs', "
        "the AWS_PROFILE of the profile billing\n"
    )
    assert capsys.readouterr().err == (note if said else "")


def test_profiles_are_added_to_those_of_a_file(config: Path) -> None:
    write_profiles(config, {"billing": {"DEVICE_ID": 'a "b"'}, "new": {"AWS_REGION": "eu-west-1"}})

    for name, values in {
        "billing": {"DEVICE_ID": 'a "b"'},
        "new": {"AWS_REGION": "eu-west-1"},
    }.items():
        assert find_profile(["--profile", name], {}, config.parent).values == values
    assert find_profile([], {}, config.parent).name == "analytics"


@pytest.mark.parametrize(
    ("dropped", "default"), [("aaa", "billing"), ("billing", "aaa"), ("none", "billing")]
)
def test_the_default_stays_unless_it_is_dropped(dropped: str, default: str, config: Path) -> None:
    config.write_text(
        'default = "billing"\n[profiles.aaa]\n[profiles.analytics]\n[profiles.billing]\n'
    )

    drop_profiles(config, [dropped])

    assert dropped not in read_profiles(config)
    assert find_profile([], {}, config.parent).name == default


def test_a_file_goes_with_its_last_profile(config: Path) -> None:
    drop_profiles(config, ["analytics", "billing"])

    assert not config.exists()


def test_init_reads_the_roots_that_were_applied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def read(root: Path) -> dict[str, dict[str, str]]:
        if root == Path("infra/consumer"):
            raise OperationError("found no output `profiles` in infra/consumer; apply it first")
        return {"producer": {"PENSTOCK_TOPIC": "sensor"}}

    monkeypatch.setattr("penstock.cli._init.read_root_profiles", read)
    path = tmp_path / "made.toml"

    assert main(["init", "--to", str(path), "--output", "json"], {}) == 1
    printed = capsys.readouterr()
    assert main(["init", "--consumer", "infra/consumer", "--to", str(path)], {}) == 1

    assert "found no output `profiles` in infra/consumer" in printed.err
    assert read_json("init", printed.out) == [{"file": str(path), "profiles": ["producer"]}]
    found = find_profile([], {"PENSTOCK_CONFIG": str(path)}, None)
    assert found.values["PENSTOCK_TOPIC"] == "sensor"
    assert (
        Path(found.values["PENSTOCK_PRODUCER_ROOT"]).resolve() == Path("infra/producer").resolve()
    )


@pytest.mark.parametrize("home", ["", "~/"])
def test_init_again_finds_the_roots_in_the_file_and_keeps_what_they_do_not_have(
    home: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    names = {"p": ["producer", "orders"], "c": ["analytics"]}
    monkeypatch.setattr(
        "penstock.cli._init.read_root_profiles",
        lambda root: {name: {"PENSTOCK_TOPIC": "new"} for name in names[root.name]},
    )
    path = tmp_path / "penstock.toml"
    login = {"AWS_CONFIG_FILE": "made/aws-config", "AWS_PROFILE": "local-producer"}
    old = {
        "producer": {**login, "PENSTOCK_TOPIC": "old", "PENSTOCK_PRODUCER_ROOT": f"{home}made/p"},
        "analytics": {"AWS_PROFILE": "mine", "PENSTOCK_CONSUMER_ROOT": f"{home}made/c"},
    }
    write_profiles(path, old)

    assert main(["init", "--to", str(path)], {}) == 0

    producer, consumer = (
        {"PENSTOCK_TOPIC": "new", f"PENSTOCK_{name.upper()}_ROOT": f"made/{name[0]}"}
        for name in ("producer", "consumer")
    )
    assert read_profiles(path) == {
        "producer": login | producer,
        "analytics": old["analytics"] | consumer,
        "orders": login | producer,
    }


def test_init_reads_a_contract(tmp_path: Path) -> None:
    contract = {
        "region": "eu-central-1", "brokers": {"1": {"host": "b", "port": 9096}},
        "group_prefix": "a-", "topics": ["sensor"],
        "registry": {"name": "penstock", "role_arn": "arn", "external_id": "x"},
    }  # fmt: skip
    given, path = tmp_path / "contract.json", tmp_path / "penstock.toml"
    given.write_text(json.dumps({"contract": contract}))

    assert main(["init", "--contract", str(given), "--name", "a", "--to", str(path)], {}) == 0

    values = find_profile([], {"PENSTOCK_CONFIG": str(path)}, None).values
    assert values["KAFKA_BOOTSTRAP_SERVERS"] == "b:9096"
    given.write_text("{}")
    assert main(["init", "--contract", str(given), "--to", str(path)], {}) == 2


@pytest.mark.parametrize(
    ("name", "region", "problem"),
    [
        ("my team", "eu-central-1", "profile my team: found a name with other characters"),
        ("team", None, "profile team: AWS_REGION is no text"),
    ],
)
def test_what_commands_would_refuse_is_not_written(
    name: str, region: str | None, problem: str, config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    contract = {
        "region": region, "brokers": {}, "group_prefix": "a-", "topics": ["sensor"],
        "registry": {"name": "penstock", "role_arn": "arn", "external_id": "x"},
    }  # fmt: skip
    given = config.parent / "contract.json"
    given.write_text(json.dumps({"contract": contract}))

    assert main(["init", "--contract", str(given), "--name", name, "--to", str(config)], {}) == 2
    assert capsys.readouterr().err.startswith(f"penstock: {config}, {problem}")
    assert config.read_text() == _FILE


def test_paths_begin_at_home_if_they_say_so(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(config.parent / "home"))
    write_profiles(config, {"analytics": {"KAFKA_CA_FILE": "~/ca.pem"}})

    found = find_profile([], {}, config.parent)

    assert found.values["KAFKA_CA_FILE"] == str(config.parent / "home" / "ca.pem")


def test_credentials_in_a_file_that_is_not_there_are_not_those_of_another(config: Path) -> None:
    write_profiles(config, {"analytics": {"AWS_CONFIG_FILE": "aws/acme"}})
    file = config.parent / "aws" / "acme"

    with pytest.raises(SettingsError) as caught:
        find_profile([], {}, config.parent)
    assert str(caught.value) == (
        f"{config}, profile analytics: AWS_CONFIG_FILE is {file}, expected a file that is there"
    )
    for given in ("AWS_CONFIG_FILE", "AWS_ACCESS_KEY_ID"):  # AWS's SDK takes these first
        assert find_profile([], {given: "other"}, config.parent).name == "analytics"
    file.parent.mkdir()
    file.touch()
    assert find_profile([], {}, config.parent).values["AWS_CONFIG_FILE"] == str(file)


def test_a_full_disk_loses_no_profile(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def write(path: Path, *_: str, **__: str) -> None:
        path.write_bytes(b"")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_text", write)

    with pytest.raises(OperationError, match="cannot be written: No space left on device"):
        write_profiles(config, {"new": {"AWS_REGION": "eu-west-1"}})
    assert config.read_text() == _FILE


def test_a_file_behind_a_link_stays_there(config: Path) -> None:
    link = config.with_name("link.toml")
    link.symlink_to(config)

    write_profiles(link, {"new": {"AWS_REGION": "eu-west-1"}})

    assert link.is_symlink()
    assert set(read_profiles(config)) == {"analytics", "billing", "new"}
