"""Profiles, and what a page is made of: a command, the fields of its form, and its template."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from penstock.cli import HOST_COMMAND, ROOTS


class Side(StrEnum):
    """The account that a profile belongs to."""

    PRODUCER = "producer"
    CONSUMER = "consumer"


@dataclass(frozen=True, slots=True)
class Profile:
    """A profile of penstock.toml.

    `host` is a command that runs the shell command in its last argument on a host which reaches the
    brokers, such as `ssh HOST`; empty if this machine does.
    """

    name: str
    side: Side
    host: str = ""

    def choose_host(self, command: Command) -> str:
        """Return the host command for what a command asks; empty if it runs on this machine.

        A consumer's host has a role that the registry in the producer's account trusts, and reaches
        registries in its VPC.
        """
        far = command.asks_brokers or (command.asks_registry and self.side is Side.CONSUMER)
        return self.host if far else ""


_STDIN: Final = "/dev/stdin"
BOTH: Final = (Side.PRODUCER, Side.CONSUMER)


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a form: a flag such as `--from`, or an argument without a flag.

    `default` is what the form begins with; an empty field is left out of the command.
    """

    name: str
    label: str
    default: str = ""
    flag: str = ""
    is_required: bool = False
    is_long: bool = False


@dataclass(frozen=True, slots=True)
class Command:
    """A command and the fields of its arguments.

    `stdin` is the field that is its stdin, which `takes_file` names as its argument FILE. With
    `needs_field`, one of the fields must be filled.
    """

    words: tuple[str, ...]
    fields: tuple[Field, ...] = ()
    stdin: str = ""
    takes_file: bool = False
    asks_brokers: bool = False
    asks_registry: bool = False
    needs_field: bool = False

    def read_values(self, given: Mapping[str, str]) -> dict[str, str]:
        """Return the value of each field; a form that was not sent has none."""
        return {each.name: given.get(each.name, each.default).strip() for each in self.fields}

    def find_missing(self, values: Mapping[str, str]) -> list[Field]:
        """Return the required fields that are empty."""
        if self.needs_field and not any(values.values()):
            return list(self.fields[:1])
        return [each for each in self.fields if each.is_required and not values[each.name]]

    def build(self, values: Mapping[str, str]) -> list[str]:
        """Return the words of the command with the values of its fields."""
        words = list(self.words)
        rest = []
        for each in self.fields:
            value = values[each.name]
            if each.name == self.stdin:
                rest += [_STDIN] if self.takes_file else []
            elif not value:
                continue
            elif each.flag:
                words.append(f"{each.flag}={value}")
            else:
                rest += value.split() if each.name.endswith("s") else [value]
        return [*words, *(["--", *rest] if rest else [])]


@dataclass(frozen=True, slots=True)
class Page:
    """A page with the output of one command, for a profile of one of the sides."""

    name: str
    title: str
    text: str
    command: Command
    sides: tuple[Side, ...] = BOTH
    template: str = "objects.html"
    is_listed: bool = True


@dataclass(frozen=True, slots=True)
class Part:
    """A part of each profile's card in the overview: a summary of a page."""

    page: str
    title: str
    template: str
    sides: tuple[Side, ...]


@dataclass(frozen=True, slots=True)
class Action:
    """A command that changes something: it is shown first, and needs a second click."""

    name: str
    title: str
    text: str
    command: Command
    sides: tuple[Side, ...]
    rehearsal: Command | None = None  # shows what it would do


def find_profile(name: str, values: Mapping[str, str]) -> Profile:
    """Return a profile, whose settings tell the account."""
    is_producer = ROOTS["producer"] in values or "PENSTOCK_TOPIC" in values
    side = Side.PRODUCER if is_producer else Side.CONSUMER
    return Profile(name, side, values.get(HOST_COMMAND, ""))
