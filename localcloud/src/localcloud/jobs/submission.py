"""The sparkSubmitParameters and Spark settings of a job, parsed."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

# Flag -> the equivalent setting; the flag wins, as in spark-submit.
FILE_KINDS = {
    "--jars": "spark.jars",
    "--py-files": "spark.submit.pyFiles",
    "--files": "spark.files",
    "--archives": "spark.archives",
}
_ALONE = frozenset({"--verbose", "-v", "--supervise"})
_SETTING = frozenset({"--conf", "-c"})
# A job must not set where and how it runs, on EMR Serverless either.
_NOT_THE_JOBS = frozenset({"--master", "--deploy-mode", "--properties-file"})
_OF_CLUSTERS = {"--master": "yarn", "--deploy-mode": "client"}
_PASSED_ON = frozenset(
    """--class --driver-class-path --driver-cores --driver-java-options --driver-library-path
    --driver-memory --exclude-packages --executor-cores --executor-memory --name --num-executors
    --packages --repositories --total-executor-cores""".split()
)


@dataclass(frozen=True, slots=True)
class Submission:
    """A job's flags, its settings, and the URIs of its files by flag."""

    flags: tuple[str, ...]
    settings: Mapping[str, str]
    files: Mapping[str, tuple[str, ...]]


def read_submission(parameters: str, defaults: Mapping[str, str]) -> Submission:
    """Parse parameters, which override the settings of a configuration.

    Raises:
        ValueError: a parameter is unknown to spark-submit, or a job must not set it.
    """
    flags: list[str] = []
    settings, places = dict(defaults), {}
    for flag, value in _split(parameters):
        if flag in _SETTING:
            name, equals, setting = value.partition("=")
            if not equals:
                raise ValueError(f"{flag} {value} has no value: write it as name=value")
            settings[name.strip()] = setting
        elif flag in FILE_KINDS:
            places[flag] = value
        else:
            flags += [flag, value] if value else [flag]
    for flag, name in FILE_KINDS.items():
        from_settings = settings.pop(name, "")
        places.setdefault(flag, from_settings)
    files = {flag: tuple(filter(None, text.split(","))) for flag, text in places.items()}
    return Submission(tuple(flags), settings, files)


@dataclass(frozen=True, slots=True)
class Command:
    """The words after spark-submit: the submission, the program, and its arguments."""

    submission: Submission
    entry_point: str
    arguments: tuple[str, ...]


def read_command(words: Sequence[str], defaults: Mapping[str, str]) -> Command:
    """Parse the words after spark-submit on a cluster, where YARN is the master.

    Raises:
        ValueError: a flag is unknown to spark-submit, or names another master or the cluster mode.
    """
    flags, left = [], list(words)
    while left and left[0].startswith("-"):
        flag, equals, value = left[0].partition("=")
        count = 1 if equals or flag in _ALONE else 2
        if flag not in _OF_CLUSTERS:
            flags += left[:count]
        elif (value or "".join(left[1:2])) != _OF_CLUSTERS[flag]:
            found = value or "".join(left[1:2])
            raise ValueError(f"{flag} is {found}, localcloud knows {_OF_CLUSTERS[flag]} only")
        left = left[count:]
    if not left:
        raise ValueError("spark-submit has no program")
    return Command(read_submission(shlex.join(flags), defaults), left[0], tuple(left[1:]))


def _split(parameters: str) -> Iterator[tuple[str, str]]:
    """Yield flags and values, written as two words or with an equals sign."""
    words = iter(shlex.split(parameters))
    for word in words:
        flag, equals, value = word.partition("=") if word.startswith("--") else (word, "", "")
        if flag in _NOT_THE_JOBS:
            raise ValueError(f"{flag} is set by EMR Serverless, a job must not set it")
        if flag in _ALONE:
            yield flag, ""
            continue
        if flag not in _SETTING and flag not in FILE_KINDS and flag not in _PASSED_ON:
            raise ValueError(f"{word} is not a supported parameter of spark-submit")
        if not equals:
            value = next(words, "")
        if not value:
            raise ValueError(f"{flag} has no value")
        yield flag, value
