"""JSON written by compiled code reads as what Python would have written."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from dwell.cli.output import LONG, json_text


def test_long_lists_read_the_same_to_the_last_bit() -> None:
    random = np.random.default_rng(0)
    bits = random.integers(0, 2**64, LONG, dtype=np.uint64).view(np.float64)
    odd = [0.0, -0.0, 5e-324, 1e16, 1e-5, 1e-7, 1.7976931348623157e308, 123456789.0, 1e22, 1e23]
    numbers = [*odd, *bits[np.isfinite(bits)].tolist(), *random.random(LONG).tolist()]
    value = {
        "numbers": numbers,
        "pairs": [[a, -a] for a in numbers],
        "wholes": list(range(LONG)),
        'a "name"': None,
        "words": ["é"] * LONG,
        "short": {"a": [1.0, 2.5e-9], "b": "ü"},
    }
    again = json.loads(json_text(value))
    assert again == value
    assert repr(again) == repr(value)  # which tells 0.0 from -0.0, and 1 from 1.0


def test_short_objects_are_as_python_writes_them() -> None:
    value = {"a": 1, "b": [1e-7, None, True], "c": {"d": "é"}}
    assert json_text(value) == json.dumps(value)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_numbers_that_json_lacks_are_refused(bad: float) -> None:
    with pytest.raises(ValueError, match="JSON compliant"):
        json_text({"numbers": [*range(LONG), bad]})
    with pytest.raises(ValueError, match="JSON compliant"):
        json_text({"number": bad})
