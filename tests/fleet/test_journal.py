"""Journals hold every whole record, whatever happened to the end of the file."""

import errno
import os
import struct
import zlib

import numpy as np
import pytest

from dwell.errors import StoreError
from dwell.fleet import journal as journals
from dwell.fleet.journal import MAGIC, JournalWriter, fleet_journals, read_fleet_journal
from dwell.live.record import belief_type, sample_type
from tests.fleet.messages import until


def framed(content, length=None):
    """A record as it is written; with another length, one that is none."""
    size = len(content) if length is None else length
    return MAGIC + struct.pack("<II", size, zlib.crc32(content)) + content


HEADER = {"dimension": 2, "run": "r", "host": "h"}


def sample(k, beliefs=3):
    row = np.zeros((), sample_type(2))
    row["k"], row["time"], row["position"] = k, 0.1 * k, (k, -k)
    held = np.zeros(beliefs, belief_type(2))
    held["agent"], held["age"] = np.arange(beliefs), 1.0 / (1 + np.arange(beliefs))
    return row, held


@pytest.fixture
def written(tmp_path):
    """A journal of five samples, and the size of the file after each."""
    journal = JournalWriter(tmp_path / "a.journal", HEADER)
    sizes = []
    for k in range(5):
        journal.sample(*sample(k, beliefs=k))
        sizes.append(journal.path.stat().st_size)
    journal.note(end=1.0)
    journal.close()
    return journal.path, sizes


def test_what_was_written_is_read_back_bit_for_bit(written):
    found = read_fleet_journal(written[0])
    assert found.ended == 1.0
    assert found.header["run"] == "r"
    assert found.counts.tolist() == [0, 1, 2, 3, 4]
    at = 0
    for k, row in enumerate(found.samples):
        expected, held = sample(k, beliefs=k)
        assert row.tobytes() == expected.tobytes()
        assert found.beliefs[at : at + k].tobytes() == held.tobytes()
        at += k
    assert found.notes == [{"end": 1.0}]


def test_a_file_that_was_cut_holds_every_sample_before_the_cut(written):
    path, sizes = written
    data = path.read_bytes()
    for size in range(sizes[0], len(data), 7):
        path.write_bytes(data[:size])
        found = read_fleet_journal(path)
        assert len(found.samples) == sum(size >= one for one in sizes)
        assert (found.ended, found.lost) == (None, 0)
        path.write_bytes(data[:size] + b"\0" * 4096)  # as after a power cut
        assert read_fleet_journal(path).lost == 0


@pytest.mark.parametrize("at", [0, 3, 5, 20])  # in the length, the checksum and the content
def test_a_changed_byte_ends_the_journal_there_and_what_follows_is_lost(written, at):
    path, sizes = written
    data = bytearray(path.read_bytes())
    data[sizes[2] + at] ^= 1
    path.write_bytes(data)
    found = read_fleet_journal(path)
    assert len(found.samples) == 3
    assert (found.ended, found.lost) == (None, len(data) - sizes[2])


def test_a_changed_byte_of_the_last_record_is_as_a_cut(written):
    path, _ = written
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    found = read_fleet_journal(path)
    assert (len(found.samples), found.ended, found.lost) == (5, None, 0)


def test_what_the_disk_could_not_keep_is_said_by_every_later_record(tmp_path, monkeypatch):
    """The system reports a failure of the disk to one call alone."""
    told = set()

    def fail(file):
        if file not in told:
            told.add(file)
            raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "fdatasync", fail)
    journal = JournalWriter(tmp_path / "a.journal", HEADER)
    assert until(lambda: journal._fault is not None)
    for k in range(2):
        with pytest.raises(OSError, match="Input/output error"):
            journal.sample(*sample(k))
    journal.close()
    assert len(read_fleet_journal(journal.path).samples) == 0


def test_content_that_is_no_journal_is_refused_whatever_its_checksum(written):
    path, _ = written
    whole = path.read_bytes()
    for content in (b"S" + b"\0" * 7, b"N{", b"P"):
        path.write_bytes(whole + framed(content))
        if content == b"P":  # of a kind that this version does not know
            assert len(list(fleet_journals(path.parent))) == 1
            continue
        with pytest.raises(StoreError, match=r"a\.journal is damaged"):
            list(fleet_journals(path.parent))


TAILS = {
    "noise": np.random.default_rng(1).bytes(4 * 2**20),
    "zeros": bytes(4 * 2**20),
    "beginnings": MAGIC * 2**18,
    "long records": b"".join(framed(b"", 2**22 - 16 * k) for k in range(2**18)),
    "short records": framed(b"", 9) * 2**17,
}


@pytest.mark.parametrize("tail", TAILS.values(), ids=TAILS)
def test_a_tail_of_garbage_is_searched_once(written, tail, monkeypatch):
    """Whatever it is, no more bytes are compared with checksums than the file has, twice over."""
    path, sizes = written
    path.write_bytes(path.read_bytes() + tail)
    compared = []
    crc = zlib.crc32

    class Counting:
        @staticmethod
        def crc32(content):
            compared.append(len(content))
            return crc(content)

    monkeypatch.setattr(journals, "zlib", Counting)
    found = read_fleet_journal(path)
    assert len(found.samples) == len(sizes)
    assert sum(compared) < 2 * path.stat().st_size + 2**23
    assert found.lost in (0, len(tail))
    path.write_bytes(path.read_bytes() + framed(b"N{}"))
    assert read_fleet_journal(path).lost > 0


def test_boots_are_in_order_however_many(tmp_path):
    for boot in (9_999, 10_000):
        JournalWriter(tmp_path / f"h-{boot:04d}.journal", HEADER | {"boot": boot}).close()
    assert [one.header["boot"] for one in fleet_journals(tmp_path)] == [9_999, 10_000]
    last = next(iter(fleet_journals(tmp_path, "h-*", last_first=True)))
    assert last.header["boot"] == 10_000


@pytest.mark.parametrize("content", [b"", b"\0" * 100, b"not a journal" * 20])
def test_other_files_are_refused(tmp_path, content):
    path = tmp_path / "x.journal"
    path.write_bytes(content)
    with pytest.raises(StoreError, match="no journal of a fleet"):
        read_fleet_journal(path)


def test_a_full_disk_leaves_the_file_whole(tmp_path, monkeypatch):
    journal = JournalWriter(tmp_path / "a.journal", HEADER)
    journal.sample(*sample(0))
    size, write = journal.path.stat().st_size, os.write

    def half(file, data):
        return write(file, data[: len(data) // 2])

    monkeypatch.setattr(os, "write", half)
    with pytest.raises(OSError, match="space"):
        journal.sample(*sample(1))
    monkeypatch.undo()
    assert journal.path.stat().st_size == size
    journal.sample(*sample(2))
    journal.close()
    assert read_fleet_journal(journal.path).samples["k"].tolist() == [0, 2]


def test_no_file_is_left_where_the_header_does_not_fit(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "write", lambda file, data: 0)
    with pytest.raises(OSError, match="space"):
        JournalWriter(tmp_path / "a.journal", HEADER)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("size", [0, 5, 20])
def test_a_process_that_died_before_its_header_was_written_leaves_no_obstacle(written, size):
    path, _ = written
    (path.parent / "x-0001.journal").write_bytes(path.read_bytes()[:size])
    found = list(fleet_journals(path.parent, last_first=True))
    assert [one.path for one in found] == [path]


def test_a_journal_is_never_written_twice(tmp_path):
    JournalWriter(tmp_path / "a.journal", HEADER).close()
    with pytest.raises(FileExistsError):
        JournalWriter(tmp_path / "a.journal", HEADER)
