"""Chance as a pure function of (seed, agent, draw)."""

import numpy as np
import pytest

from dwell._kernels.common.philox import STREAM_RESETS, STREAM_STARTS, philox, uniform, uniform_pair
from dwell.verify.replay import philox_uniform

# Known answers of Philox4x32-10 from its authors' test suite: counter, key, output.
KNOWN = [
    ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    (
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344), (0xA4093822, 0x299F31D0),
        (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
    ),
]  # fmt: skip

FROZEN = [
    0.021863830066934042, 0.3711316041398173, 0.0672500107710422, 0.09680932578019363,
    0.7993706578597638, 0.603754160902991,
]  # fmt: skip


@pytest.mark.parametrize(("counter", "key", "words"), KNOWN)
def test_known_answers(counter, key, words):
    assert tuple(philox(*counter, *key)) == words


def test_draws_are_frozen():
    """These numbers must never change: stored runs depend on them."""
    draws = [uniform(1, 2, STREAM_RESETS, stream, k) for stream in (0, 7) for k in (0, 1, 10**6)]
    assert draws == FROZEN


def test_two_implementations_agree():
    streams = np.repeat(np.arange(20), 50)
    k = np.tile(np.arange(50), 20) * 97_531
    key = (123, 4_000_000_000)
    one_by_one = [
        uniform(*key, STREAM_RESETS, *map(int, pair)) for pair in zip(streams, k, strict=True)
    ]
    assert one_by_one == philox_uniform(key, streams, k).tolist()


def test_draws_are_even_and_streams_unrelated():
    draws = np.array([[uniform(5, 6, STREAM_RESETS, p, k) for k in range(2000)] for p in range(4)])
    assert ((draws >= 0.0) & (draws < 1.0)).all()
    assert abs(draws.mean(axis=1) - 0.5).max() < 0.03
    assert abs(draws.var(axis=1) - 1 / 12).max() < 0.01
    assert abs(np.corrcoef(draws) - np.eye(4)).max() < 0.08


def test_purposes_do_not_share_draws():
    assert uniform(5, 6, STREAM_RESETS, 3, 4) != uniform_pair(5, 6, STREAM_STARTS, 3, 4)[0]
