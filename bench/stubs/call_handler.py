"""One execution environment: `python -m bench.stubs.call_handler FOLDER COUNT [restored]`.

It prints the milliseconds from its start to the first answer, and those of each warm call. With
`restored` it freezes once its module is imported, as a function with SnapStart, and counts from the
moment at which it is thawed.
"""

from __future__ import annotations

import time

_STARTED = time.perf_counter()

import contextlib  # noqa: E402 - the clock comes first
import io  # noqa: E402
import json  # noqa: E402
import os  # noqa: E402
import signal  # noqa: E402
import statistics  # noqa: E402
import sys  # noqa: E402


class _Context:
    function_name, memory_limit_in_mb, aws_request_id = "bench", 512, "0" * 36
    invoked_function_arn = "arn:aws:lambda:eu-central-1:111111111111:function:bench"

    def get_remaining_time_in_millis(self) -> int:
        """Return a time-out that is far away."""
        return 30_000


def _freeze() -> float:
    """Stop until somebody sends SIGCONT, run the hooks, and return when it came."""
    from snapshot_restore_py import get_after_restore  # noqa: PLC0415 - of Lambda's runtime

    os.kill(os.getpid(), signal.SIGSTOP)
    thawed = time.perf_counter()
    for hook, arguments, more in get_after_restore():
        hook(*arguments, **more)
    return thawed


def main() -> None:
    """Import the handler, call it, and print what it cost."""
    sys.path.insert(0, sys.argv[1])
    warm = []
    with contextlib.redirect_stdout(io.StringIO()):
        from handler import lambda_handler  # noqa: PLC0415 - part of what is measured

        started = _freeze() if "restored" in sys.argv[3:] else _STARTED
        lambda_handler({"temperature": 30}, _Context())
        first = time.perf_counter() - started
        for _ in range(int(sys.argv[2])):
            started = time.perf_counter()
            lambda_handler({"temperature": 30}, _Context())
            warm.append((time.perf_counter() - started) * 1e3)
    quantiles = statistics.quantiles(warm, n=100) if len(warm) > 1 else [0.0] * 99
    print(json.dumps({"cold": first * 1e3, "p50": quantiles[49], "p99": quantiles[98]}))


if __name__ == "__main__":
    main()
