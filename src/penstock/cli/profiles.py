"""Profiles: settings by name in `penstock.toml`, which commands use where the environment has none.

The file is that of PENSTOCK_CONFIG, or the first `penstock.toml` in the current folder or above it.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from os.path import expanduser
from pathlib import Path
from typing import Any, Final

from penstock.errors import OperationError, SettingsError
from penstock.operations import read_toml, write_text

CONFIG_FILE: Final = "penstock.toml"
# The variables of the folders of Terraform's roots.
ROOTS: Final = {"producer": "PENSTOCK_PRODUCER_ROOT", "consumer": "PENSTOCK_CONSUMER_ROOT"}
_CONFIG, _PROFILE = "PENSTOCK_CONFIG", "PENSTOCK_PROFILE"
_CREDENTIALS: Final = "AWS_CONFIG_FILE"
_PATHS: Final = frozenset({*ROOTS.values(), _CREDENTIALS, "KAFKA_CA_FILE"})
# A key of AWS is a secret, and has files of its own.
_SETTING = re.compile(
    r"AWS_(CONFIG_FILE|DEFAULT_REGION|ENDPOINT_URL|PROFILE|REGION)|DEVICE_ID|(KAFKA|PENSTOCK)_[A-Z_]+"
)
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
_HEADER: Final = """\
# Settings of the `penstock` command, by the names of the environment variables that override them.
# `penstock init` writes it from Terraform's outputs. It holds no secrets: keys of AWS stay in AWS's
# own files or in the environment.
"""


@dataclass(frozen=True, slots=True)
class Profile:
    """The settings of one profile; without a file, it has no name and no values."""

    name: str = ""
    path: Path | None = None
    values: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Config:
    """A whole file."""

    path: Path
    default: str
    profiles: Mapping[str, Mapping[str, str]]


def add_profile(parser: argparse.ArgumentParser) -> None:
    """Add the choice of a profile, which `find_profile` reads before the others are known."""
    parser.add_argument(
        "--profile", metavar="NAME", help=f"a profile of {CONFIG_FILE} [the variable {_PROFILE}]"
    )


def find_profile(words: Sequence[str], environ: Mapping[str, str], folder: Path | None) -> Profile:
    """Return the profile that the words of a command or the environment name, or the default one.

    Args:
        words: the words of the command.
        environ: the environment, whose PENSTOCK_CONFIG names the file.
        folder: else the file is in this folder or above it; None looks nowhere.

    Raises:
        SettingsError: the file cannot be used, has no such profile, or that names a file with
            credentials that is not there.
    """
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    add_profile(parser)
    try:
        named = parser.parse_known_args(words)[0].profile
    except argparse.ArgumentError as error:
        raise SettingsError([str(error)]) from error
    if named == "":  # a script's variable is not set: another profile's account may be changed
        raise SettingsError(["--profile is empty, expected the name of a profile"])
    name = named or environ.get(_PROFILE, "")
    path = _find_file(environ, folder)
    if path is None:
        if name:
            raise SettingsError([f"found no {CONFIG_FILE}, expected one with the profile {name}"])
        return Profile()
    config = _read_config(path)
    profile = _choose(config, name or config.default)
    file = profile.values.get(_CREDENTIALS, "")
    given = environ.get(_CREDENTIALS) or environ.get("AWS_ACCESS_KEY_ID")
    if file and not given and not Path(file).exists():
        # AWS's SDK would ignore it, and take the credentials of another account.
        problem = f"{_CREDENTIALS} is {file}, expected a file that is there"
        raise SettingsError([f"{path}, profile {profile.name}: {problem}"])
    return profile


def is_setting(variable: str) -> bool:
    """Say whether a profile may hold a variable: no key of AWS."""
    return _SETTING.fullmatch(variable) is not None


def read_profiles(path: Path) -> Mapping[str, Mapping[str, str]]:
    """Return the profiles of a file as they are in it; without a file there are none.

    Raises:
        SettingsError: the file exists and cannot be used.
    """
    return _read_config(path).profiles if path.exists() else {}


def write_profiles(path: Path, profiles: Mapping[str, Mapping[str, str]]) -> None:
    """Write profiles to a file; it keeps its other profiles and its default.

    Raises:
        SettingsError: the file exists and cannot be used, or a profile could not be read again.
        OperationError: it cannot be written.
    """
    if problems := _check_profiles(path, profiles):
        raise SettingsError(problems)
    old = _read_config(path) if path.exists() else _Config(path, next(iter(profiles)), {})
    _write_config(_Config(path, old.default, {**old.profiles, **profiles}))


def drop_profiles(path: Path, names: Collection[str]) -> None:
    """Drop profiles from a file, which is deleted with the last one; another default stays.

    Raises:
        SettingsError: the file cannot be used.
        OperationError: it cannot be written.
    """
    old = _read_config(path)
    others = {name: values for name, values in old.profiles.items() if name not in names}
    if others:
        default = next(iter(others)) if old.default in names else old.default
        _write_config(_Config(path, default, others))
    else:
        path.unlink()


def _find_file(environ: Mapping[str, str], folder: Path | None) -> Path | None:
    if path := environ.get(_CONFIG):
        return Path(path)
    folders = (folder, *folder.parents) if folder else ()
    files = (each / CONFIG_FILE for each in folders)
    return next((file for file in files if file.is_file()), None)


def _read_config(path: Path) -> _Config:
    try:
        found = read_toml(path)
    except OperationError as error:
        raise SettingsError([str(error)]) from error
    profiles = found.get("profiles")
    problems = []
    if unknown := sorted(found.keys() - {"default", "profiles"}):
        problems.append(f"{path} has {', '.join(unknown)}, expected default and profiles")
    if not isinstance(profiles, dict) or not profiles:
        problems.append(f"{path} has no profile, expected a table such as [profiles.analytics]")
        profiles = {}
    problems += _check_profiles(path, profiles)
    default = found.get("default", next(iter(profiles)) if len(profiles) == 1 else "")
    if not isinstance(default, str):
        problems.append(f"{path}: default is {default!r}, expected the name of a profile")
    if problems:
        raise SettingsError(problems)
    return _Config(path, default, profiles)


def _write_config(config: _Config) -> None:
    lines = [_HEADER, f"default = {_quote(config.default)}"]
    for name, values in config.profiles.items():
        lines += ["", f"[profiles.{name}]"]
        lines += [f"{key} = {_quote(value)}" for key, value in values.items()]
    # A full disk must not lose what a user wrote; a link stays one.
    path = config.path.resolve()
    part = path.with_name(f"{path.name}.part")
    write_text(part, "\n".join([*lines, ""]))
    if path.exists():
        shutil.copymode(path, part)
    part.replace(path)


def _check_profiles(path: Path, profiles: Mapping[str, Any]) -> list[str]:
    return [
        f"{path}, profile {name}: {each}"
        for name, values in profiles.items()
        for each in _list_problems(name, values)
    ]


def _list_problems(name: str, values: Any) -> list[str]:
    if not _NAME.fullmatch(name):
        return ["found a name with other characters, expected letters, digits, dashes, underscores"]
    if not isinstance(values, dict):
        return ["found a value, expected a table of settings"]
    return [
        f"{key} is no setting of a profile, expected AWS_REGION, AWS_PROFILE, or a name that "
        "begins with KAFKA_ or PENSTOCK_; keys of AWS belong in its own files"
        for key in values
        if not is_setting(key)
    ] + [f"{key} is no text" for key, value in values.items() if not isinstance(value, str)]


def _choose(config: _Config, name: str) -> Profile:
    """Return a profile, its relative paths made those of the file's folder."""
    if name not in config.profiles:
        known = ", ".join(sorted(config.profiles))
        found = f"no profile {name}" if name else "no default among several profiles"
        remedy = f"name one with --profile or {_PROFILE}"
        raise SettingsError([f"{config.path} has {found}, expected one of {known}; {remedy}"])
    values = {
        key: find_path(config.path, value) if key in _PATHS else value
        for key, value in config.profiles[name].items()
    }
    return Profile(name, config.path, values)


def find_path(file: Path, value: str) -> str:
    """Return a path that a profile of a file has; a relative one is of the file's folder."""
    # Path.expanduser fails for the home of a user who does not exist.
    return str(file.parent / expanduser(value))  # noqa: PTH111


def _quote(text: str) -> str:
    """Return a string of TOML, whose escapes are those of JSON."""
    return json.dumps(text, ensure_ascii=False)
