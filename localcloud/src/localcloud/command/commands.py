"""The commands of `python -m localcloud`."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from localcloud.command.assumptions import read_assumptions
from localcloud.command.fetch import list_missing
from localcloud.command.instance import Instance, clear_folder, find_instance, read_instance
from localcloud.command.logs import follow_log
from localcloud.command.terminal import say
from localcloud.errors import LocalcloudError

_READY_SECONDS = 30  # far more than it needs: a busy machine is not a failure
_END_SECONDS = 20  # brokers move leaderships and close their logs
_POLL_SECONDS = 0.05
_CELL = 48
# Credentials of whoever calls, which a place does not have, and proxies, which do not reach it.
_OUTER = frozenset({"AWS_PROFILE", "AWS_SESSION_TOKEN", "HTTP_PROXY", "http_proxy"})
_NAMESPACE = ("unshare", "--user", "--map-root-user", "--mount")


def up(folder: Path, port: int) -> None:
    """Start localcloud in the background if it does not run."""
    begun = time.monotonic()
    if instance := find_instance(folder):
        say(f"localcloud runs already: {instance.endpoint} (process {instance.pid})")
        if not instance.endpoint.endswith(f":{port}"):
            raise LocalcloudError(
                f"it does not answer on port {port}: stop it first, or use another --folder"
            )
        return
    _clear(folder)
    instance = _start(folder, port)
    say(f"localcloud answers on {instance.endpoint} after {time.monotonic() - begun:.1f} s")
    say(f"  process   {instance.pid}, its files in {folder}")
    say("  accounts  any: a 12-digit access key is that account")
    if missing := list_missing():
        say(f"  missing   {missing}: {_program()} fetch")
    say(f'  use it    eval "$({_program()} env)"')
    say(f"  stop it   {_program()} down")


def down(folder: Path) -> None:
    """Stop localcloud and every process that it started."""
    instance = read_instance(folder)
    if instance is None:
        say("localcloud does not run")
        return
    how = "had ended before"
    if instance.alive:
        gently = instance.end(_END_SECONDS)
        how = "ended" if gently else f"was killed, it did not end within {_END_SECONDS} s"
    _clear(folder)
    say(f"localcloud {how} (process {instance.pid})")


def status(folder: Path, output: str) -> None:
    """Print what runs."""
    instance = _require(folder)
    parts = instance.ask("status")
    if output == "json":
        say(json.dumps(parts))
        return
    say(f"localcloud answers on {instance.endpoint} (process {instance.pid})")
    for name, things in parts.items():
        say(f"\n{name}: {len(things) or 'none'}")
        for line in _format_table(things):
            say(f"  {line.rstrip()}")


def env(folder: Path, account: str, region: str) -> None:
    """Print the exports that point SDKs, the AWS CLI and Terraform to localcloud."""
    variables = {
        "AWS_ENDPOINT_URL": _require(folder).endpoint,
        "AWS_ACCESS_KEY_ID": account,
        "AWS_SECRET_ACCESS_KEY": "localcloud",
        "AWS_REGION": region,
        "AWS_DEFAULT_REGION": region,
        "AWS_EC2_METADATA_DISABLED": "true",
    }
    say("unset AWS_PROFILE AWS_SESSION_TOKEN")
    for name, value in variables.items():
        say(f"export {name}={value}")


def run(folder: Path, name: str, hosts: bool, program: list[str]) -> None:
    """Become a program in the place of a function or an instance.

    Raises:
        LocalcloudError: there is no such place or program.
    """
    words = program[1:] if program[:1] == ["--"] else program
    if not words:
        raise LocalcloudError("found no program, expected one after --")
    place = _require(folder).ask("enter-place", place=name)
    environ = {key: value for key, value in os.environ.items() if key not in _OUTER}
    environ |= place["environment"]
    if hosts:
        mount = 'mount --bind "$0" /etc/hosts && exec "$@"'
        words = [*_NAMESPACE, "sh", "-c", mount, place["hosts_file"], *words]
    try:
        os.execvpe(words[0], words, environ)  # noqa: S606 - no shell on purpose
    except OSError as error:
        raise LocalcloudError(f"{words[0]} cannot be run: {error}") from error


def logs(folder: Path, name: str, once: bool) -> None:
    """Print a log and follow it."""
    for line in follow_log(_require(folder), folder, name, once=once):
        say(line)


def assumptions(folder: Path, output: str) -> None:
    """Print each assumption about AWS with its source and the command that would settle it."""
    found = read_assumptions()
    if output == "json":
        say(json.dumps([asdict(each) for each in found]))
        return
    for each in found:
        say(f"{each.about}: {each.says}")
        say(f"  id      {each.id}")
        say(f"  source  {each.source} ({each.date})")
        say(f"  settle  {each.settle}\n")


def trace(folder: Path, output: str, **way: Any) -> None:
    """Print the hops from a VPC to a host, and the missing one."""
    found = _require(folder).ask("trace", **way)
    if output == "json":
        say(json.dumps(found))
    else:
        for hop in found["hops"]:
            say(f"  {hop}")
    if found["missing"]:
        raise LocalcloudError(found["missing"])


def registry(folder: Path, port: int, interface: str, host: str, output: str) -> None:
    """Start Apicurio Registry if it does not run, show it in a VPC, and print its URLs."""
    wanted = {"port": port, "interface": interface, "host": host}
    found = _require(folder).ask("start-registry", **wanted)
    if output == "json":
        say(json.dumps(found))
        return
    say(f"Apicurio Registry answers on {found['url']} (process {found['pid']})")
    places = {"this machine": found["url"].removeprefix("http://")}
    places |= {each: f"{name}:{found['port']}" for each, name in found["hosts"].items()}
    for place, address in places.items():
        say(f"  {place}")
        say(f"    its own API     apicurio+http://{address}")
        say(f"    Confluent's API confluent+http://{address}/apis/ccompat/v7")


def _clear(folder: Path) -> None:
    """End what an earlier localcloud left, empty its folder, and keep others from new files."""
    os.umask(0o077)
    if left := read_instance(folder):
        left.end_processes()
    clear_folder(folder)


def _start(folder: Path, port: int) -> Instance:
    log, scratch = folder / "server.log", folder / "tmp"
    scratch.mkdir()
    with log.open("ab") as out:
        process = subprocess.Popen(
            [sys.executable, "-m", "localcloud.command.daemon", str(folder), str(port)],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            env=os.environ | {"TMPDIR": str(scratch)},
            start_new_session=True,
        )
    deadline = time.monotonic() + _READY_SECONDS
    while time.monotonic() < deadline:
        if instance := find_instance(folder):
            return instance
        if process.poll() is not None:
            lines = log.read_text().strip().splitlines()
            raise LocalcloudError(lines[-1] if lines else f"it ended with {process.returncode}")
        time.sleep(_POLL_SECONDS)
    process.kill()
    raise LocalcloudError(f"localcloud was not ready within {_READY_SECONDS} s; see {log}")


def _require(folder: Path) -> Instance:
    instance = find_instance(folder)
    if instance is None:
        raise LocalcloudError(f"localcloud does not run, start it: {_program()} up")
    return instance


def _program() -> str:
    """Return the words that run this program in a shell: `localcloud`, if it is found on PATH."""
    python, here = Path(sys.executable), Path.cwd()
    if shutil.which("localcloud") == str(python.with_name("localcloud")):
        return "localcloud"
    return f"{python.relative_to(here) if here in python.parents else python} -m localcloud"


def _format_table(things: list[dict[str, Any]]) -> Iterator[str]:
    """Yield the lines of a table, whose long cells are cut: --output json has all of them."""
    if not things:
        return
    names = list(dict.fromkeys(name for thing in things for name in thing))
    rows = [names, *([_show(thing.get(name, "")) for name in names] for thing in things)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))


def _show(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= _CELL else f"{text[: _CELL - 3]}..."
