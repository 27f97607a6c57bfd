"""What worker processes do in these tests: an order is the name of a function and its arguments."""

from __future__ import annotations

import os
import time
from typing import Any

import numpy as np

from dwell.workers.child import Link


def run(order: tuple[str, Any], link: Link) -> Any:
    name, value = order
    return globals()[f"do_{name}"](value, link)


def do_echo(value: Any, link: Link) -> Any:
    return value


def do_report(value: Any, link: Link) -> Any:
    print("not an outcome", flush=True)
    for share in (-1.0, 0.5):
        link.progress("working", share)  # the second is too soon to be sent
    link.report(value)
    return os.getpid()


def do_divide(value: float, link: Link) -> float:
    return 1 / value


def do_loop(value: None, link: Link) -> None:
    while True:
        link.check()
        time.sleep(0.005)


def do_sleep(value: float, link: Link) -> None:
    time.sleep(value)


def do_exit(value: int, link: Link) -> None:
    os._exit(value)


def do_allocate(value: int, link: Link) -> float:
    return float(np.ones(value)[0])


def do_function(value: None, link: Link) -> Any:
    return lambda: None  # which cannot be sent


def prepare_slowly() -> None:
    time.sleep(0.3)
