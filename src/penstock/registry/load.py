"""The construction of a schema registry from its URL."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from importlib.metadata import entry_points
from inspect import signature
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import SplitResult, parse_qs, unquote, urlsplit

from penstock.errors import SettingsError
from penstock.registry.admin import RegistryAdmin
from penstock.registry.interface import SchemaRegistry
from penstock.registry.naming import NAMINGS
from penstock.schemas import Compatibility

if TYPE_CHECKING:
    from penstock.registry.glue import GlueSettings
    from penstock.registry.http_settings import HttpRegistrySettings

_Options = dict[str, list[str]]

_GROUP: Final = "penstock.registries"
_PARTS: Final = ("kind", "source", "get")  # of a registry, for any reader


def load_registry(url: str, *, call_seconds: float | None = None) -> SchemaRegistry:
    """Build the registry that a URL names, without a call to it.

    `call_seconds` limits the time of a call with all its retries, for a program that has less time
    than the registry's default. The last attempt can end by up to the same time later.

    `glue://NAME` takes `region`, `role_arn`, `external_id`, `endpoint`, `compatibility` (the mode
    of schemas that get a version) and any number of `allow=REGISTRY/SCHEMA`; `memory://` takes
    `compatibility`.
    `confluent+https://[USER@]HOST[/PATH]` (or `+http`) takes `secret` (see `_http_credentials`),
    `ca_file`, `naming` (`topic`, `record` or `topic-record`), `topic` (for the last one),
    `compatibility` (by default the registry's own) and any number of `allow=SCHEMA`;
    `apicurio+https://` takes `group` in addition.
    Any other scheme is the name of an entry point in the group `penstock.registries`: a callable
    that takes the URL and `call_seconds`.

    Raises:
        SettingsError: the URL names no registry, or its options are wrong.
    """
    parts = _split(url)
    if parts.scheme not in _FACTORIES:
        return _load_installed(parts.scheme, url, call_seconds)
    return _FACTORIES[parts.scheme](parts, call_seconds)


def has_content_ids(url: str) -> bool:
    """Return whether a URL that `load_registry` takes has Apicurio's content ids as its ids."""
    parts = _split(url)
    is_confluent = parts.scheme in _FACTORIES and parts.scheme.startswith("confluent+")
    return is_confluent and _read_http(parts, None, {}).has_content_ids


def load_admin(url: str) -> RegistryAdmin:
    """Build the registry that a URL names for its operator, without a call to it.

    Raises:
        SettingsError: the URL names no registry of Glue, Confluent or Apicurio, or its options are
            wrong.
    """
    parts = _split(url)
    match parts.scheme.partition("+")[0] if parts.scheme in _FACTORIES else "":
        case "glue":
            from penstock.registry.glue_admin import GlueAdmin  # noqa: PLC0415

            return GlueAdmin(_read_glue(*_read_parts(parts)))
        case "confluent":
            from penstock.registry.confluent_admin import ConfluentAdmin  # noqa: PLC0415

            return ConfluentAdmin(_read_http(parts, None, {}))
        case "apicurio":
            from penstock.registry.apicurio_admin import ApicurioAdmin  # noqa: PLC0415

            return ApicurioAdmin(_read_http(parts, None, {"group": "default"}))
    known = ", ".join(each for each in _FACTORIES if each != "memory")
    found = f"begins with {parts.scheme!r}" if parts.scheme else "has no kind before ://"
    raise SettingsError([f"registry URL {found}, expected one of {known}"])


def _split(url: str) -> SplitResult:
    try:
        return urlsplit(url)
    except ValueError:
        # Python's message may quote a password.
        problem = "registry URL is no URL, expected SCHEME://NAME?OPTIONS"
        raise SettingsError([problem]) from None


def _read_parts(parts: SplitResult) -> tuple[str, _Options]:
    """Return the name and the options of a URL."""
    if parts.path or parts.fragment:
        raise SettingsError(
            ["registry URL has a path or a #, expected ?OPTIONS after the name (%23 for # in it)"]
        )
    return unquote(parts.netloc), parse_qs(parts.query, keep_blank_values=True)


def _load_installed(scheme: str, url: str, call_seconds: float | None) -> SchemaRegistry:
    """Build a registry from the entry point of another installed distribution."""
    installed = {each.name: each for each in entry_points(group=_GROUP)}
    if scheme not in installed:
        known = ", ".join([*_FACTORIES, *sorted(installed)])
        # The message does not show the whole URL, which may hold an external id.
        found = f"begins with {scheme!r}" if scheme else "has no kind before ://"
        raise SettingsError([f"registry URL {found}, expected one of {known}"])
    point = f"{_GROUP}: {scheme} ({installed[scheme].value})"
    try:
        build = installed[scheme].load()
        signature(build).bind(url, call_seconds=call_seconds)
    except Exception as error:  # whatever its code raises
        expected = "expected a function of a URL and call_seconds"
        problem = f"{point} cannot be loaded: {type(error).__name__}: {error}; {expected}"
        raise SettingsError([problem]) from error
    registry: SchemaRegistry = build(url, call_seconds=call_seconds)
    if missing := [part for part in _PARTS if not hasattr(registry, part)]:
        found = f"a {type(registry).__name__} without {', '.join(missing)}"
        raise SettingsError([f"{point} built {found}, expected a SchemaRegistry"])
    return registry


def _load_glue(parts: SplitResult, call_seconds: float | None) -> SchemaRegistry:
    # The import of botocore takes 0.1 s, which a program without Glue does not need.
    from penstock.registry.glue import GlueRegistry  # noqa: PLC0415

    settings = _read_glue(*_read_parts(parts))
    if call_seconds is not None:
        settings = replace(settings, call_seconds=call_seconds)
    return GlueRegistry(settings)


def _read_glue(name: str, options: _Options) -> GlueSettings:
    from penstock.registry.glue import GlueSettings  # noqa: PLC0415

    single = {"region", "role_arn", "external_id", "endpoint"}
    problems = _problems("glue", options, single | {"allow", "compatibility"})
    if not name:
        problems.append("glue:// names no registry, expected glue://NAME")
    if problems:
        raise SettingsError(problems)
    given: dict[str, Any] = {key: options[key][0] for key in single & options.keys()}
    return GlueSettings(
        name,
        **given,
        allow=tuple(options.get("allow", ())),
        compatibility=_compatibility(options),
    )


def _load_memory(parts: SplitResult, _: float | None) -> SchemaRegistry:
    from penstock.registry.memory import MemoryRegistry  # noqa: PLC0415

    name, options = _read_parts(parts)
    problems = _problems("memory", options, {"compatibility"})
    if name:
        problems.append(f"memory:// has no name, found {name!r}")
    if problems:
        raise SettingsError(problems)
    return MemoryRegistry(compatibility=_compatibility(options))


def _load_confluent(parts: SplitResult, call_seconds: float | None) -> SchemaRegistry:
    from penstock.registry.confluent import ConfluentRegistry  # noqa: PLC0415

    return ConfluentRegistry(_read_http(parts, call_seconds, {}))


def _load_apicurio(parts: SplitResult, call_seconds: float | None) -> SchemaRegistry:
    from penstock.registry.apicurio import ApicurioRegistry  # noqa: PLC0415

    return ApicurioRegistry(_read_http(parts, call_seconds, {"group": "default"}))


def _read_http(
    parts: SplitResult, call_seconds: float | None, more: dict[str, str]
) -> HttpRegistrySettings:
    """Return the settings of a URL; `more` holds the scheme's own options with their defaults."""
    from penstock.registry.http_settings import HttpRegistrySettings  # noqa: PLC0415

    scheme, options = parts.scheme, parse_qs(parts.query, keep_blank_values=True)
    login, _, host = parts.netloc.rpartition("@")
    user, has_password, _ = login.partition(":")
    single = {"secret", "ca_file", "naming", "topic"} | more.keys()
    problems = _problems(scheme, options, single | {"allow", "compatibility"})
    problems += _problems_of_address(parts, bool(has_password))
    given: dict[str, Any] = {**more, **{key: options[key][0] for key in single & options.keys()}}
    naming = given.get("naming", NAMINGS[0])
    if naming not in NAMINGS:
        problems.append(
            f"{scheme}:// option naming is {naming!r}, expected one of {', '.join(NAMINGS)}"
        )
    if (naming == "topic-record") != ("topic" in given):
        problems.append(f"{scheme}:// takes the option topic with naming=topic-record only")
    if problems:
        raise SettingsError(problems)
    settings = HttpRegistrySettings(
        scheme,
        host + parts.path,
        unquote(user),
        **given,
        allow=tuple(options.get("allow", ())),
        compatibility=_compatibility(options),
    )
    return settings if call_seconds is None else replace(settings, call_seconds=call_seconds)


def _problems_of_address(parts: SplitResult, has_password: bool) -> list[str]:
    """Return the problems of the address in a URL, without its password."""
    problems = []
    try:
        host, _ = parts.hostname, parts.port
    except ValueError:
        host = ""
    if not host or parts.fragment:
        problems.append(f"{parts.scheme}:// has no valid host, expected HOST or HOST:PORT")
    if has_password:
        problems.append(
            f"{parts.scheme}://{host} holds a password, expected it in a secret or a file, as "
            "secret=ARN or secret=PATH: a JSON object with username and password"
        )
    return problems


_FACTORIES: dict[str, Callable[[SplitResult, float | None], SchemaRegistry]] = {
    "glue": _load_glue,
    "memory": _load_memory,
    "confluent+http": _load_confluent,
    "confluent+https": _load_confluent,
    "apicurio+http": _load_apicurio,
    "apicurio+https": _load_apicurio,
}
_MODES = ", ".join(Compatibility)


def _compatibility(options: _Options) -> Compatibility | None:
    return Compatibility(options["compatibility"][0]) if "compatibility" in options else None


def _problems(scheme: str, options: _Options, known: set[str]) -> list[str]:
    """Return the problems of a URL's options."""
    problems = [
        f"{scheme}:// has no option {key!r}, expected {', '.join(sorted(known))}"
        for key in options.keys() - known
    ]
    problems += [
        f"{scheme}:// option {key} is given {len(values)} times"
        for key, values in options.items()
        if len(values) > 1 and key != "allow"
    ]
    problems += [f"{scheme}:// option {key} is empty" for key in options if "" in options[key]]
    mode = options.get("compatibility", [Compatibility.BACKWARD])[0]
    if mode not in set(Compatibility):
        problems.append(f"{scheme}:// option compatibility is {mode!r}, expected one of {_MODES}")
    return problems
