"""Compiled kernels against the same ones as plain Python."""

import os
import subprocess
import sys


def printed(program: str, jit: bool) -> str:
    """What a program prints, with kernels compiled or not."""
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "DWELL_JIT": str(int(jit))},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout
