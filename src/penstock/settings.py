"""Settings of a program in one frozen dataclass: from flags, then the environment, then defaults.

@dataclass(frozen=True, slots=True)
class CopySettings(Settings):
    source: str = setting("COPY_SOURCE", "folder to copy from")
    limit: int = setting("COPY_LIMIT", "files to copy at most", parse=int, default=100)

settings = CopySettings.from_environ(os.environ)     # a Lambda
settings = CopySettings.from_args(sys.argv[1:])      # a job: also takes --source and --limit
"""

from __future__ import annotations

import argparse
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields
from datetime import datetime
from typing import Any, Self, TypeVar

from penstock.errors import SettingsError

_FLAG = re.compile(r"--[a-z][a-z-]*")
_LAST_PORT = 65_535
_Made = TypeVar("_Made", bound="Settings")


def setting(
    variable: str,
    meaning: str,
    *,
    parse: Callable[[str], Any] = str,
    default: Any = MISSING,
    secret: bool = False,
) -> Any:
    """Declare one setting of a `Settings` dataclass.

    Args:
        variable: the environment variable; the flag is the field's name, with dashes.
        meaning: what the setting is, in words that can follow "expected" in an error message.
        parse: converts text to the value; it raises ValueError if the text is not valid.
        default: the default value; without one the setting is required.
        secret: keep the value out of `repr` and messages.
    """
    metadata = {"variable": variable, "meaning": meaning, "parse": parse, "secret": secret}
    return field(default=default, repr=not secret, metadata=metadata)


def nested(settings_class: type[Settings], default: Any = MISSING) -> Any:
    """Declare the settings of another class as a field, read from the same flags and environment.

    `default` is used only by an instance that is constructed without the field.
    """
    return field(metadata={"nested": settings_class}, default=default)


def nested_each(find: Callable[[], Mapping[str, type[Settings]]]) -> Any:
    """Declare a field with the settings of several classes by name, which `find` returns.

    An instance that is constructed without the field has none of them.
    """
    return field(metadata={"nested_each": find}, default_factory=dict)


class Settings:
    """Base class of settings dataclasses; each instance has passed its own `problems`."""

    __slots__ = ()

    def __post_init__(self) -> None:
        """Raise SettingsError if the values have problems."""
        if problems := tuple(self.problems()):
            raise SettingsError(problems)

    def problems(self) -> Iterable[str]:
        """Return the problems of the values as a whole; a value that could not be read is None."""
        return ()

    @classmethod
    def from_environ(cls, environ: Mapping[str, str]) -> Self:
        """Return the settings from environment variables; an empty variable counts as missing.

        Raises:
            SettingsError: the settings are not valid; it lists every problem.
        """
        return _read_setting(cls, {}, environ)

    @classmethod
    def from_args(cls, argv: Sequence[str], environ: Mapping[str, str] | None = None) -> Self:
        """Return the settings from flags and, for missing flags, from environment variables.

        Raises:
            SettingsError: the settings are not valid; it lists every problem.
        """
        parser = argparse.ArgumentParser(allow_abbrev=False, exit_on_error=False)
        cls.add_flags(parser)
        try:
            known, unknown = parser.parse_known_args(argv)
        except argparse.ArgumentError as error:
            raise SettingsError([str(error)]) from error
        return _read_setting(cls, vars(known), os.environ if environ is None else environ, unknown)

    @classmethod
    def add_flags(cls, parser: argparse.ArgumentParser) -> None:
        """Add a flag for each setting to the parser of a command."""
        group = parser.add_argument_group("settings")  # after the command's own arguments
        for row in describe_settings(cls):
            meaning = row.meaning.replace("%", "%%")  # argparse formats its help texts
            switch: dict[str, Any] = {"action": "store_const", "const": "true"}
            group.add_argument(
                row.flag, help=f"{meaning} [{row.variable}]", **(switch if row.is_switch else {})
            )

    @classmethod
    def from_flags(
        cls, flags: argparse.Namespace, environ: Mapping[str, str], given: Sequence[Settings] = ()
    ) -> Self:
        """Return the settings from flags that a command parsed, and the environment.

        Args:
            flags: the flags.
            environ: the environment.
            given: settings that take the place of nested ones of their class, which are not read.

        Raises:
            SettingsError: the settings are not valid; it lists every problem.
        """
        return _read_setting(cls, vars(flags), environ, given=given)


@dataclass(frozen=True, slots=True)
class SettingRow:
    """One row of a table of settings; `default` is None if the setting is required.

    The flag of a switch has no value.
    """

    variable: str
    flag: str
    default: str | None
    meaning: str
    is_switch: bool = False


def parse_count(text: str, least: int = 1) -> int:
    """Return a whole number that is at least `least`.

    Raises:
        ValueError: the text is not such a number.
    """
    if not (text.isascii() and text.isdigit()) or int(text) < least:  # int() also accepts 1_0
        raise ValueError(text)
    return int(text)


def parse_match(pattern: re.Pattern[str], text: str) -> str:
    """Return a text that a pattern matches as a whole.

    Raises:
        ValueError: it does not match.
    """
    if not pattern.fullmatch(text):
        raise ValueError(text)
    return text


def parse_port(text: str, least: int = 0) -> int:
    """Return the number of a port; 0 stands for a free one.

    Raises:
        ValueError: the text is not such a number.
    """
    port = parse_count(text, least)
    if port > _LAST_PORT:
        raise ValueError(text)
    return port


def parse_positive(text: str) -> float:
    """Return a number above 0.

    Raises:
        ValueError: the text is not such a number.
    """
    number = float(text)
    if not 0 < number < float("inf"):
        raise ValueError(text)
    return number


def parse_switch(text: str) -> bool:
    """Return whether a text is true; else it is false.

    Raises:
        ValueError: the text is neither.
    """
    if text not in {"true", "false"}:
        raise ValueError(text)
    return text == "true"


def parse_json(text: str) -> Any:
    """Return the value of a text of JSON.

    Raises:
        ValueError: it is not JSON, or a name is twice in an object, of which one would be ignored.
    """
    return json.loads(text, object_pairs_hook=_refuse_repeated)


def _refuse_repeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise ValueError(f"the name {name!r} is twice in one object")
        found[name] = value
    return found


def parse_names(text: str) -> tuple[str, ...]:
    """Return the names in a list with commas, without the spaces around them.

    Raises:
        ValueError: a name is empty.
    """
    names = tuple(name.strip() for name in text.split(","))
    if not all(names):
        raise ValueError(text)
    return names


def parse_moment(text: str) -> datetime:
    """Return a time such as 2026-11-21T08:00:00+00:00; the UTC offset is required.

    Raises:
        ValueError: the text is not a time, or has no UTC offset.
    """
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError(text)
    return moment


def describe_settings(settings_class: type[Settings]) -> tuple[SettingRow, ...]:
    """Return the settings of a class in order, with nested settings in their place."""
    return tuple(_describe_settings(settings_class))


def _describe_settings(settings_class: type[Settings]) -> Iterator[SettingRow]:
    for item in _fields(settings_class):
        if inner := item.metadata.get("nested"):
            yield from _describe_settings(inner)
        elif find := item.metadata.get("nested_each"):
            for each in find().values():
                yield from _describe_settings(each)
        else:
            meaning = item.metadata["meaning"]
            yield SettingRow(
                item.metadata["variable"],
                _flag(item),
                _show_default(item),
                meaning,
                isinstance(item.default, bool),
            )


def _show_default(item: Field[Any]) -> str | None:
    if item.default is MISSING:
        return None
    if isinstance(item.default, tuple | frozenset):
        return ",".join(map(str, item.default))
    if isinstance(item.default, bool):
        return str(item.default).lower()
    return "" if item.default is None else str(item.default)


def _read_setting(
    settings_class: type[_Made],
    arguments: Mapping[str, str | None],
    environ: Mapping[str, str],
    unknown: Sequence[str] = (),
    given: Sequence[Settings] = (),
) -> _Made:
    made, problems = _assemble(settings_class, arguments, environ, given)
    problems += map(_describe_unknown, unknown)
    if problems:
        raise SettingsError(problems)
    return made


def _describe_unknown(word: str) -> str:
    """Return the problem of an unknown argument, without its value, which may be a secret."""
    flag = _FLAG.match(word)
    if flag is None:
        return "found a value that belongs to no argument of this program"
    return f"{flag[0]} is not an argument of this program"


def _assemble(
    settings_class: type[_Made],
    arguments: Mapping[str, str | None],
    environ: Mapping[str, str],
    given: Sequence[Settings],
) -> tuple[_Made, list[str]]:
    """Return an instance, even an invalid one, and its problems.

    `problems` of the instance checks the values that could be read.
    """
    made = object.__new__(settings_class)
    problems: list[str] = []
    for item in _fields(settings_class):
        value, found = _assemble_field(item, arguments, environ, given)
        problems += found
        object.__setattr__(made, item.name, value)
    return made, problems + list(made.problems())


def _assemble_field(
    item: Field[Any],
    arguments: Mapping[str, str | None],
    environ: Mapping[str, str],
    given: Sequence[Settings],
) -> tuple[Any, list[str]]:
    """Return the value of a field, None if it could not be read, and its problems."""
    if inner := item.metadata.get("nested"):
        for each in given:
            if type(each) is inner:
                return each, []
        return _assemble(inner, arguments, environ, given)
    if find := item.metadata.get("nested_each"):
        made = {name: _assemble(each, arguments, environ, given) for name, each in find().items()}
        problems = [problem for _, found in made.values() for problem in found]
        return {name: value for name, (value, _) in made.items()}, problems
    try:
        return _read_value(item, arguments, environ), []
    except ValueError as error:
        return None, [str(error)]


def _read_value(
    item: Field[Any], arguments: Mapping[str, str | None], environ: Mapping[str, str]
) -> Any:
    variable, meaning = item.metadata["variable"], item.metadata["meaning"]
    for source, text in (
        (_flag(item), arguments.get(item.name)),
        (variable, environ.get(variable)),
    ):
        if not text:
            continue
        try:
            return item.metadata["parse"](text)
        except ValueError as error:
            found = "cannot be used" if item.metadata["secret"] else f"is {text!r}"
            raise ValueError(f"{source} {found}, expected {meaning}") from error
    if item.default is MISSING:
        raise ValueError(f"{variable} ({_flag(item)}) is missing, expected {meaning}")
    return item.default


def _fields(settings_class: type[Settings]) -> tuple[Field[Any], ...]:
    return fields(settings_class)  # type: ignore[arg-type] # subclasses are dataclasses


def _flag(item: Field[Any]) -> str:
    return "--" + item.name.replace("_", "-")
