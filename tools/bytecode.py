"""Bytecode that is compiled ahead, so that a cold start of a function compiles nothing.

A function's folder is read-only, so nothing that it compiles is there at its next cold start. Files
are by PEP 552 of the kind "unchecked hash": their source is not compared, and no date is in them.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from localcloud.functions.runtimes import find_interpreter
from tools.lambda_packages import BuildError

# Version 2 of marshal marks no shared objects. Later ones mark what else refers to an object at the
# moment, so the same source would not give the same bytes.
_COMPILE = """
import importlib.util, json, marshal, sys
from pathlib import Path

files, folder = json.load(sys.stdin), Path(sys.argv[1])
for name, source in files.items():
    text = Path(source).read_bytes()
    code = compile(text, name, "exec", dont_inherit=True, optimize=0)
    made = folder / importlib.util.cache_from_source(name)
    made.parent.mkdir(parents=True, exist_ok=True)
    head = importlib.util.MAGIC_NUMBER + (1).to_bytes(4, "little")
    made.write_bytes(head + importlib.util.source_hash(text) + marshal.dumps(code, 2))
"""


def compile_files(files: Mapping[str, Path], python: str) -> dict[str, bytes]:
    """Return the bytecode of all modules among the files of a zip, by its name there.

    Raises:
        BuildError: this machine has no such Python, or a module cannot be compiled.
    """
    interpreter = find_interpreter(python)
    if interpreter is None:
        raise BuildError(f"bytecode for Python {python} needs that Python on PATH or under pyenv")
    modules = {name: str(path.resolve()) for name, path in files.items() if name.endswith(".py")}
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [interpreter, "-I", "-S", "-c", _COMPILE, folder],
            input=json.dumps(modules),
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise BuildError(f"bytecode cannot be made: {done.stderr.strip().splitlines()[-1]}")
        return {
            path.relative_to(folder).as_posix(): path.read_bytes()
            for path in Path(folder).rglob("*.pyc")
        }
