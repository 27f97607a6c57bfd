"""Binary messages: what goes in comes out, wherever they are cut."""

from __future__ import annotations

import json
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dwell.web.wire_format import LARGEST, Spool, drop_rows, pack, rows_at_a_time, unpack


def table(rows: int):
    draw = np.random.default_rng(rows)
    return {
        "time": draw.random(rows),
        "agent": draw.integers(0, 9, rows),
        "positions": np.asfortranarray(draw.random((rows, 3))),  # as event tables are
        "bend": draw.random((rows, 2, 3)),
        "errors": draw.random((rows, 5)).astype(np.float32),
        "cruise": np.full(rows, np.inf),
    }


@given(rows=st.integers(0, 20), first=st.integers(0, 10**9), cut=st.integers(0, 20))
def test_what_goes_in_comes_out(rows, first, cut):
    columns = table(rows)
    message = pack("events", first, columns)
    header, found = unpack(message)
    assert (header["type"], header["first"], header["count"]) == ("events", first, rows)
    assert list(found) == list(columns)
    for name, values in columns.items():
        kind = {"i": "<i4"}.get(values.dtype.kind, values.dtype)
        assert found[name].tobytes() == np.ascontiguousarray(values, dtype=kind).tobytes()
    cut = min(cut, rows)
    header, rest = unpack(drop_rows(message, cut))
    assert (header["first"], header["count"]) == (first + cut, rows - cut)
    for name, values in found.items():
        assert rest[name].tobytes() == values[cut:].tobytes()


def test_the_layout_of_a_message():
    """Read by hand, as the page does."""
    agent, time = np.array([3, 1, 2]), np.array([0.5, 1.0, 2.5])
    message = pack("events", 7, {"agent": agent, "time": time})
    (length,) = struct.unpack("<I", message[:4])
    assert (4 + length) % 8 == 0
    header = json.loads(message[4 : 4 + length])
    assert header["columns"] == [
        {"name": "agent", "type": "i4", "shape": [3]},
        {"name": "time", "type": "f8", "shape": [3]},
    ]
    rest = message[4 + length :]
    assert struct.unpack("<3i", rest[:12]) == (3, 1, 2)
    assert rest[12:16] == bytes(4)  # filled up to eight
    assert struct.unpack("<3d", rest[16:]) == (0.5, 1.0, 2.5)


def test_a_spool_can_be_read_while_it_is_written(tmp_path):
    spool = Spool(tmp_path / "one.frames")
    entries = [spool.put("events", k, 1, bytes([k]) * (k + 1)) for k in range(4)]
    raw = (tmp_path / "one.frames").read_bytes()
    for k, entry in enumerate(entries):
        assert raw[entry.offset : entry.offset + entry.length] == bytes([k]) * (k + 1)
    spool.close()


@pytest.mark.parametrize(("rows", "agents"), [(100_000, 1), (1_000, 200)])
def test_messages_are_about_a_megabyte_at_most(rows, agents):
    columns = {"time": np.zeros(rows), "errors": np.zeros((rows, agents))}
    rows = rows_at_a_time(columns)
    message = pack("samples", 0, {name: values[:rows] for name, values in columns.items()})
    assert 0.9 * LARGEST < len(message) < LARGEST + 1000
