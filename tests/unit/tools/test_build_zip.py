"""The same files make the same zip, and nothing built for another target gets into one."""

from __future__ import annotations

import os
import re
import zipfile
from pathlib import Path
from unittest.mock import patch

import pytest

from tools.build_zip import list_files, main, write_zip
from tools.bytecode import compile_files
from tools.lambda_packages import (
    BuildError,
    Target,
    check_binaries,
    fetch_packages,
    read_lambda_names,
    read_pins,
)

_ARM = Target("3.13", "arm64")


def _fill(folder: Path, *names: str) -> Path:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(path.name)
    return folder


def test_order_date_and_mode_of_the_files_leave_no_trace(tmp_path: Path) -> None:
    one = _fill(tmp_path / "one", "b.py", "a/c.py")
    other = _fill(tmp_path / "other", "a/c.py", "b.py")
    os.utime(other / "b.py", (1, 1))
    (other / "a/c.py").chmod(0o777)
    files = list_files(one)

    write_zip(tmp_path / "one.zip", files)
    write_zip(tmp_path / "other.zip", dict(reversed(list_files(other).items())))

    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "other.zip").read_bytes()
    with zipfile.ZipFile(tmp_path / "one.zip") as made:
        assert made.namelist() == ["a/c.py", "b.py"]
        assert {oct(entry.external_attr >> 16) for entry in made.infolist()} == {"0o100644"}


def test_a_zip_that_would_be_the_same_is_left_alone(tmp_path: Path) -> None:
    files = list_files(_fill(tmp_path / "in", "a.py"))
    path = tmp_path / "out/made.zip"

    assert write_zip(path, files) == "made.zip: 0.0 MB, 1 files"
    os.utime(path, (1, 1))
    assert write_zip(path, files) == "made.zip: 0.0 MB, 1 files, unchanged"
    assert path.stat().st_mtime == 1

    files["a.py"].write_text("changed")
    assert write_zip(path, files) == "made.zip: 0.0 MB, 1 files"
    assert path.stat().st_mtime > 1


def test_files_of_the_installer_are_not_packaged(tmp_path: Path) -> None:
    notes = ("RECORD", "INSTALLER", "REQUESTED", "WHEEL", "direct_url.json", "METADATA")
    folder = _fill(
        tmp_path,
        *(f"kafka_python-3.dist-info/{name}" for name in notes),
        "kafka/__init__.py",
        "kafka/__pycache__/__init__.cpython-313.pyc",
        "bin/kafka-python",
        ".lock",
    )

    assert sorted(list_files(folder)) == ["kafka/__init__.py", "kafka_python-3.dist-info/METADATA"]


@pytest.mark.parametrize(
    ("name", "machine", "found"),
    [
        ("_c.cpython-312-aarch64-linux-gnu.so", 0xB7, "python3.12 on arm64"),
        ("_c.cpython-313-aarch64-linux-gnu.so", 0x3E, "python3.13 on x86_64"),
        ("_c.abi3.so", 0x3E, "python3.13 on x86_64"),
        ("_c.abi3.so", 0x28, "python3.13 on ELF machine 40"),
    ],
)
def test_an_extension_for_another_target_stops_the_build(
    tmp_path: Path, name: str, machine: int, found: str
) -> None:
    (tmp_path / name).write_bytes(b"\x7fELF" + bytes(14) + machine.to_bytes(2, "little"))

    with pytest.raises(BuildError, match=rf"^{name} is built for {found}, expected python3.13 on"):
        check_binaries(tmp_path, _ARM)


@pytest.mark.parametrize("name", ["_c.cpython-313-aarch64-linux-gnu.so", "_c.abi3.so"])
def test_an_extension_for_the_target_is_fine(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"\x7fELF" + bytes(14) + b"\xb7\x00")

    check_binaries(tmp_path, _ARM)


def test_the_pins_are_those_of_the_extra_and_carry_hashes() -> None:
    pins = read_pins(read_lambda_names())
    names = re.findall(r"^([a-z0-9-]+)==", pins, re.MULTILINE)

    assert names == sorted(names)
    assert {"aws-lambda-powertools", "crc32c", "kafka-python"} <= set(names)
    assert "boto3" not in names
    assert all("--hash=sha256:" in block for block in re.split(r"\n(?=[a-z])", pins))


def test_a_failed_download_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UV_OFFLINE", "1")
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "empty"))

    with pytest.raises(BuildError, match=r"^the packages for python3.13 on arm64 cannot be inst"):
        fetch_packages(["boto3"], _ARM, tmp_path / "cache")

    assert list((tmp_path / "cache").iterdir()) == []


def test_a_build_that_stops_says_why_and_fails(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(_names: list[str], target: Target) -> Path:
        raise BuildError(f"no wheel for {target}")

    monkeypatch.setattr("tools.build_zip.fetch_packages", refuse)

    assert main(["--python", "3.12", "--arch", "x86_64", "--into", str(tmp_path)]) == 1
    assert capsys.readouterr().err == "Nothing was built: no wheel for python3.12 on x86_64\n"
    assert list(tmp_path.iterdir()) == []


def test_bytecode_for_a_python_that_is_not_here(tmp_path: Path) -> None:
    with patch("tools.bytecode.find_interpreter", return_value=None):
        with pytest.raises(
            BuildError, match=r"^bytecode for Python 3.12 needs that Python on PATH"
        ):
            compile_files({}, "3.12")


def test_a_module_that_cannot_be_compiled_is_named(tmp_path: Path) -> None:
    module = tmp_path / "broken.py"
    module.write_text("def\n")

    with pytest.raises(BuildError, match=r"^bytecode cannot be made: SyntaxError: "):
        compile_files({"a/broken.py": module}, Target.of_host().python)
