"""Where Terraform takes the provider for AWS from: a mirror on this machine, or the internet."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Mapping
from pathlib import Path

_PROVIDER = Path("registry.terraform.io", "hashicorp", "aws")
_SYSTEM_PLACES = ("/opt", "/usr/local", "/usr/local/share", "/usr/share", "/var/lib")
_USER_PLACES = ("", ".local/share", ".terraform.d")
_DEPTHS = ("", "*", "*/*")
_MACHINES = {"x86_64": "amd64", "aarch64": "arm64"}


def init_words(version: str, environ: Mapping[str, str]) -> list[str]:
    """Write the words of `terraform init`: with the mirror that is found, else without."""
    found = environ.get("TF_PLUGIN_DIR") or find_mirror(version, usual_places())
    words = ["init", "-input=false"]
    return [*words, f"-plugin-dir={found}"] if found else words


def find_mirror(version: str, places: Iterable[Path]) -> Path | None:
    """Find a folder with the unpacked provider, in the places or at most two levels below.

    What some root was initialised with (`.terraform`) is no mirror: it goes when that root goes.
    """
    machine = platform.machine().lower()
    target = f"{platform.system().lower()}_{_MACHINES.get(machine, machine)}"
    unpacked = _PROVIDER / version / target
    for place in places:
        for depth in _DEPTHS:
            for found in sorted(place.glob(str(Path(depth) / unpacked))):
                if ".terraform" not in found.parts:
                    return found.parents[len(unpacked.parts) - 1]
    return None


def usual_places() -> list[Path]:
    """List the folders of the system and of the user that may hold a mirror."""
    return [*map(Path, _SYSTEM_PLACES), *(Path.home() / place for place in _USER_PLACES)]


def child_environ(environ: Mapping[str, str]) -> dict[str, str]:
    """Copy an environment, without a TF_CLI_CONFIG_FILE that is absent: each command would warn."""
    name = "TF_CLI_CONFIG_FILE"
    absent = name in environ and not Path(environ[name]).is_file()
    return {key: value for key, value in environ.items() if not (absent and key == name)}
