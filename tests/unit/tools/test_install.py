"""`make install` on machines made up of stand-in programs, in a clone made up of a few files."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

_ROOT = Path(__file__).parents[3]
_PROVIDER = "tools/terraform.py"
_FETCHED = "localcloud/src/localcloud/jars.toml"
_SOURCE = "jars/decoder/src/penstock/spark/Decoder.java"
_PACKAGED = "jars/decoder/src/penstock/spark/source/Source.java"
_FILES = (
    *("requirements.lock", "pyproject.toml", "localcloud/pyproject.toml", _PROVIDER),
    *("jars/glue/pom.xml", "localcloud/tests/jars/pom.xml", _SOURCE, _PACKAGED, _FETCHED),
)
_SHELL_PROGRAMS = ("cat", "cp", "cut", "date", "dirname", "grep", "mkdir", "rm", "sed", "sha256sum")

# Stands for python3 and for the interpreter inside the virtual environment that it makes.
_PYTHON = """#!/bin/sh
case "$*" in
"-V") echo "Python ${FAKE_VERSION:-3.11.7}" ;;
"-m venv "*) mkdir -p "$3/bin" && cp "$0" "$3/bin/python" && echo venv >>"$CALLS" ;;
"-m pip "* | "-m uv "*) echo "$2" >>"$CALLS" && echo "$*" >>"$CALLS.pip" ;;
"-m tools.build_decoder")
    mkdir -p src/penstock/spark/decoding && echo decoder >>"$CALLS"
    : >src/penstock/spark/decoding/penstock-decoder.jar ;;
"-m localcloud fetch") [ -d localcloud/.cache/jars/tests ] && echo fetch >>"$CALLS" ;;
"-m tools.terraform fetch") echo provider >>"$CALLS" ;;
"tools/record_classes.py") mkdir -p localcloud/.cache/spark-classes &&
    echo classes >>"$CALLS" && echo >localcloud/.cache/spark-classes/1.jsa ;;
esac
"""
_MAVEN = """#!/bin/sh
case "$*" in
*copy-dependencies*) mkdir -p jars/glue/lib localcloud/.cache/jars/tests && echo mvn >>"$CALLS" ;;
esac
printf '\\033[0m'
"""
_MACHINE = {
    "python3": _PYTHON,
    "javac": "#!/bin/sh\necho javac 17.0.15\n",
    "mvn": _MAVEN,
    "terraform": "#!/bin/sh\necho Terraform v1.11.4\n",
    "uname": '#!/bin/sh\ncase "$1" in -s) echo Linux ;; -m) echo x86_64 ;; esac\n',
}


class _Clone:
    """A clone with little in it, on a machine that has just the programs it is given."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "clone"
        self._bin = folder / "bin"
        self._calls = folder / "calls"
        self._bin.mkdir(parents=True)
        for name in _SHELL_PROGRAMS:
            (self._bin / name).symlink_to(str(shutil.which(name)))
        for name, text in _MACHINE.items():
            self.provide(name, text)
        (self.folder / "tools").mkdir(parents=True)
        shutil.copy(_ROOT / "tools/install.sh", self.folder / "tools")
        for name in _FILES:
            (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / name).write_text(f"first {name}\n")

    def provide(self, name: str, text: str) -> None:
        (self._bin / name).write_text(text)
        (self._bin / name).chmod(0o755)

    def take_away(self, name: str) -> None:
        (self._bin / name).unlink()

    def install(self, **environ: str) -> subprocess.CompletedProcess[str]:
        self._calls.write_text("")
        return subprocess.run(
            ["/bin/sh", str(self.folder / "tools/install.sh")],
            env={"PATH": str(self._bin), "CALLS": str(self._calls), **environ},
            capture_output=True,
            text=True,
            check=False,
        )

    def pip_arguments(self) -> list[str]:
        return self._calls.with_suffix(".pip").read_text().splitlines()

    def calls(self) -> list[str]:
        """The programs in order, but Maven is first, two are last: they run beside others."""
        order = ["mvn", "", "provider", "classes"]
        calls = self._calls.read_text().split()
        return sorted(calls, key=lambda name: order.index(name if name in order else ""))


@pytest.fixture
def clone(tmp_path: Path) -> _Clone:
    return _Clone(tmp_path)


def test_everything_missing_is_one_list_with_how_to_get_it(clone: _Clone) -> None:
    for name in ("python3", "javac", "mvn", "terraform"):
        clone.take_away(name)

    done = clone.install()

    assert done.returncode == 1
    lines = done.stderr.splitlines()
    assert lines[0] == "This machine lacks what Penstock needs:"
    assert [line.split()[1] for line in lines[1:5]] == ["Python", "JDK", "Maven", "Terraform"]
    assert all(":" in line for line in lines[1:5])
    assert lines[5] == "Install these, then run the command again"
    assert clone.calls() == []


@pytest.mark.parametrize(
    ("program", "answer", "expected"),
    [
        ("javac", "javac 11.0.2", "JDK 17 or 21"),
        ("terraform", "Terraform v1.10.5", "Terraform 1.11 or later"),
    ],
)
def test_a_version_too_old_counts_as_missing(
    clone: _Clone, program: str, answer: str, expected: str
) -> None:
    clone.provide(program, f"#!/bin/sh\necho '{answer}'\n")

    done = clone.install()

    assert done.returncode == 1
    assert expected in done.stderr
    assert len(done.stderr.splitlines()) == 3


def test_a_jdk_of_java_home_is_looked_at_too(clone: _Clone) -> None:
    done = clone.install(JAVA_HOME="/opt/java-11")

    assert done.returncode == 1
    assert "JAVA_HOME, which is /opt/java-11: unset it" in done.stderr


def test_a_jdk_that_names_its_options_first_is_taken(clone: _Clone) -> None:
    told = "echo Picked up JAVA_TOOL_OPTIONS >&2"
    clone.provide("javac", f"#!/bin/sh\n{told}\necho javac 17.0.15\n")

    assert clone.install().returncode == 0


def test_a_folder_with_a_blank_is_refused(tmp_path: Path) -> None:
    clone = _Clone(tmp_path / "Jane Doe")

    done = clone.install()

    assert (done.returncode, clone.calls()) == (1, [])
    assert done.stderr.startswith("Java cannot use a folder whose path has a blank: clone into")


def test_an_unusable_python_is_passed_over_for_the_next(clone: _Clone) -> None:
    clone.provide("python3", "#!/bin/sh\nexit 1\n")
    clone.provide("python3.13", _PYTHON)

    assert clone.install().returncode == 0
    assert clone.calls() == [
        *("mvn", "venv", "pip", "uv", "uv", "decoder", "fetch", "provider", "classes")
    ]


def test_another_system_is_refused_in_one_sentence(clone: _Clone) -> None:
    clone.provide("uname", '#!/bin/sh\ncase "$1" in -s) echo Darwin ;; -m) echo arm64 ;; esac\n')

    done = clone.install()

    assert done.returncode == 1
    assert done.stderr == (
        "Penstock runs on Linux (x86_64, arm64, WSL2 on Windows); this machine is Darwin on arm64\n"
    )


def test_the_output_is_lines_without_escape_codes(clone: _Clone) -> None:
    done = clone.install()

    assert re.fullmatch("(==> [ -~]+\n)+", done.stdout)
    assert done.stderr == ""


def test_what_maven_says_is_shown_if_it_fails(clone: _Clone) -> None:
    clone.provide(
        "mvn", "#!/bin/sh\ncase $1 in -version) ;; *) echo '[ERROR] no host'; exit 1 ;; esac"
    )

    done = clone.install()

    assert done.returncode == 1
    assert done.stderr == "[ERROR] no host\n"


def test_nothing_is_built_with_what_is_not_pinned(clone: _Clone) -> None:
    clone.install()

    installers, packages, project = clone.pip_arguments()
    assert "--require-hashes --requirement /dev/stdin" in installers
    assert "--require-hashes --no-build-isolation " in packages
    assert packages.endswith(" --requirement requirements.lock")
    assert "--no-build-isolation --no-deps --editable . --editable ./localcloud" in project


def test_the_installers_are_pinned_themselves(clone: _Clone) -> None:
    pinned = ["setuptools==1 \\\n    --hash=sha256:0\n", "uv==2 \\\n    --hash=sha256:1\n"]
    (clone.folder / "requirements.lock").write_text("six==1 \\\n    --hash=sha256:2\n".join(pinned))
    clone.provide(
        "python3", _PYTHON.replace('"-m pip "*', '"-m pip "*requirement*) cat ;;\n"-m pip "*')
    )

    assert "".join(pinned) in clone.install().stdout


def test_a_failure_waits_for_maven(clone: _Clone) -> None:
    clone.provide("python3", _PYTHON.replace('"-m uv "*) ', '"-m uv "*) exit 3 '))
    clone.provide("mvn", _MAVEN.replace("mkdir", "sleep 0.5 && mkdir"))
    clone.provide("sleep", f'#!/bin/sh\n{shutil.which("sleep")} "$1"\n')

    done = clone.install()

    assert done.returncode == 3
    assert (clone.folder / "jars/glue/lib/.jars").exists()


def test_a_second_run_does_nothing_and_says_nothing(clone: _Clone) -> None:
    assert "==> Jars into jars/glue/lib" in clone.install().stdout

    again = clone.install()

    assert (again.returncode, again.stdout, clone.calls()) == (0, "", [])


@pytest.mark.parametrize(
    ("changed", "calls"),
    [
        ("requirements.lock", ["venv", "pip", "uv", "uv", "decoder", "fetch", "classes"]),
        ("pyproject.toml", ["uv", "fetch", "classes"]),
        ("localcloud/pyproject.toml", ["uv", "fetch", "classes"]),
        ("jars/glue/pom.xml", ["mvn", "fetch", "classes"]),
        ("localcloud/tests/jars/pom.xml", ["mvn", "fetch", "classes"]),
        (_FETCHED, ["fetch", "classes"]),
        (_PROVIDER, ["fetch", "provider", "classes"]),
        (_SOURCE, ["decoder", "fetch", "classes"]),
        (_PACKAGED, ["decoder", "fetch", "classes"]),
    ],
)
def test_only_what_changed_is_done_again(clone: _Clone, changed: str, calls: list[str]) -> None:
    clone.install()
    (clone.folder / changed).write_text("second\n")

    clone.install()

    assert clone.calls() == calls


def test_an_archive_that_is_missing_is_recorded_again(clone: _Clone) -> None:
    clone.install()
    shutil.rmtree(clone.folder / "localcloud/.cache/spark-classes")

    clone.install()

    assert clone.calls() == ["fetch", "classes"]


def test_another_python_makes_the_environment_again(clone: _Clone) -> None:
    clone.install()
    clone.provide("python3.13", _PYTHON.replace("3.11.7", "3.13.0"))

    clone.install(PYTHON="python3.13")

    assert clone.calls() == ["venv", "pip", "uv", "uv", "fetch", "classes"]


def test_a_cut_run_is_redone(clone: _Clone) -> None:
    clone.provide("mvn", "#!/bin/sh\ncase $* in *copy*) exit 1 ;; esac\n")
    assert clone.install().returncode != 0
    clone.provide("mvn", _MAVEN)

    clone.install()

    assert clone.calls() == ["mvn", "decoder", "fetch", "classes"]


def test_one_maven_fetches_the_jars_of_every_folder() -> None:
    listed = re.findall("<module>(.*)</module>", (_ROOT / "jars/pom.xml").read_text())

    poms = [*_ROOT.glob("jars/*/pom.xml"), _ROOT / "localcloud/tests/jars/pom.xml"]
    assert sorted(listed) == sorted(os.path.relpath(pom.parent, _ROOT / "jars") for pom in poms)


def test_the_real_lock_file_names_versions_and_hashes_only() -> None:
    lines = (_ROOT / "requirements.lock").read_text().splitlines()
    requirements = [line for line in lines if not line.startswith(" ")]

    assert all("==" in line for line in requirements)
    assert {"setuptools", "uv"} <= {
        line.split("==")[0] for line in requirements
    }  # tools/install.sh
    assert all(line.startswith("    --hash=sha256:") for line in lines if line.startswith(" "))
    assert os.linesep.join(lines).find("://") == -1
