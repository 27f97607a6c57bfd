"""Journals: one file per process and start, appended to and checked record by record.

A record is a magic word, its length, its CRC-32 and its content: a kind, then JSON, or a sample
with its beliefs.
The first record is the header. A record that is cut off ends the file: what comes before is whole.
Where whole records follow one that is not, the file is damaged.

A fleet with a secret seals its journals: each record ends with an HMAC of its content and of the
seal before. With the secret one can tell whether a record was changed, added or left out.
"""

from __future__ import annotations

import contextlib
import hmac
import json
import os
import struct
import threading
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, final

import numpy as np

from dwell.errors import StoreError
from dwell.live.record import belief_type, sample_type

FORMAT = 4
SYNC_EVERY = 0.2  # seconds
MAGIC = b"\xd8well\x00\xff\x0a"  # begins each record, so that the next one is found after damage
_FRAME = struct.Struct("<8sII")  # the magic word, length and CRC-32 of the content
_HEADER, _SAMPLE, _NOTE = b"H", b"S", b"N"
_SEALED = b"K"  # the header of a journal with seals
SEAL = 16  # bytes of an HMAC-SHA256
MOST = 1 << 26  # bytes of one record


@final
class JournalWriter:
    """Appends records to a new file; a thread makes them durable every 0.2 s.

    key : the secret of the fleet, with which records are sealed.
    """

    def __init__(self, path: Path, header: dict[str, Any], key: bytes | None = None) -> None:
        self.path, self._key, self._last = path, key, b""
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o644)
        self._size, self._over = 0, threading.Event()
        self._fault: OSError | None = None  # of the disk, which the system reports once
        try:
            kind = _HEADER if key is None else _SEALED
            self._append(kind + json.dumps({"format": FORMAT, **header}).encode())
            os.fsync(self._file)
        except OSError:
            os.close(self._file)
            path.unlink()
            raise
        self._thread = threading.Thread(target=self._sync, daemon=True)
        self._thread.start()

    def sample(self, row: np.ndarray, beliefs: np.ndarray) -> None:
        """Append a sample with its beliefs; an OSError leaves the file as it was."""
        self._append(_SAMPLE + row.tobytes() + beliefs.tobytes())

    def note(self, **values: Any) -> None:
        """Append anything else that happened."""
        self._append(_NOTE + json.dumps(values).encode())

    def _append(self, content: bytes) -> None:
        if self._fault is not None:
            raise OSError(*self._fault.args)
        seal = b"" if self._key is None else _seal(self._key, self._last, content)
        content += seal
        record = _FRAME.pack(MAGIC, len(content), zlib.crc32(content)) + content
        try:
            if os.write(self._file, record) < len(record):
                raise OSError(28, "no space left on the disk")
        except OSError:
            os.ftruncate(self._file, self._size)
            raise
        self._size, self._last = self._size + len(record), seal

    def _sync(self) -> None:
        while not self._over.wait(SYNC_EVERY):
            try:
                os.fdatasync(self._file)
            except OSError as fault:
                self._fault = fault

    def close(self) -> None:
        """Make the file durable, and close it."""
        self._over.set()
        self._thread.join()
        with contextlib.suppress(OSError):
            os.fsync(self._file)
        os.close(self._file)


@final
@dataclass(eq=False)
class FleetJournal:
    """The content of a journal."""

    path: Path
    header: dict[str, Any]
    samples: np.ndarray
    beliefs: np.ndarray
    counts: np.ndarray  # beliefs of each sample
    notes: list[dict[str, Any]] = field(default_factory=list)
    lost: int = 0  # bytes from damage in the middle on
    sealed: bool = False

    @property
    def started(self) -> float | None:
        """The monotonic time from which its process counted the run; None if it did not begin."""
        return self._noted("started")

    @property
    def ended(self) -> float | None:
        """When its process ended by its own clock; None if it was killed."""
        return self._noted("end")

    def _noted(self, name: str) -> float | None:
        return next((float(note[name]) for note in self.notes if name in note), None)


def read_fleet_journal(path: Path, key: bytes | None = None) -> FleetJournal:
    """Read a journal up to the first record that is not whole.

    key : the secret of the fleet; seals are compared with it, and are needed then.
    """
    data = path.read_bytes()
    records = list(_records(data))
    if not records or records[0][:1] not in (_HEADER, _SEALED):
        raise _refused(path, "is no journal of a fleet, or its header is cut off")
    sealed = records[0][:1] == _SEALED
    read = sum(_FRAME.size + len(one) for one in records)
    lost = len(data) - read if _goes_on(data, read) else 0
    if key is not None:
        _check_seals(path, records, sealed, key)
    if sealed:
        records = [one[:-SEAL] for one in records]
    header = json.loads(records[0][1:])
    if header.get("format") != FORMAT:
        raise _refused(path, f"has format {header.get('format')!r}; {FORMAT} is needed")
    n = int(header["dimension"])
    row, belief = sample_type(n), belief_type(n)
    contents = [one[1:] for one in records if one[:1] == _SAMPLE]
    samples = np.array([np.frombuffer(one, row, 1)[0] for one in contents], dtype=row)
    held = [np.frombuffer(one, belief, offset=row.itemsize) for one in contents]
    counts = np.array([len(some) for some in held], dtype=np.int64)
    beliefs = np.concatenate(held) if held else np.empty(0, belief)
    notes = [json.loads(one[1:]) for one in records if one[:1] == _NOTE]
    return FleetJournal(path, header, samples, beliefs, counts, notes, lost, sealed)


def _seal(key: bytes, before: bytes, content: bytes) -> bytes:
    """The seal of a record, from its content and the seal of the record before."""
    return hmac.digest(key, b"journal" + before + content, "sha256")[:SEAL]


def _check_seals(path: Path, records: Sequence[bytes], sealed: bool, key: bytes) -> None:
    """Refuse a journal of which a record was changed, added or left out by who has not the key."""
    if not sealed:
        raise _refused(path, "has no seals; a key is given for journals of agents that had it")
    before = b""
    for k, record in enumerate(records):
        content, seal = record[:-SEAL], record[-SEAL:]
        if not hmac.compare_digest(seal, _seal(key, before, content)):
            says = "was sealed with another key" if k == 0 else "was changed after it was written"
            raise _refused(path, f"{says}, by the seal of its record {k}")
        before = seal


def fleet_journals(
    folder: Path, name: str = "*", *, last_first: bool = False, key: bytes | None = None
) -> Iterator[FleetJournal]:
    """The journals in a folder, each process in order of its boots, without cut-off headers.

    A process may be killed, or find the disk full, before it has written that.
    """
    paths = sorted(folder.glob(f"{name}.journal"), key=lambda one: (len(one.name), one.name))
    for path in reversed(paths) if last_first else paths:
        if _has_header(path):
            try:
                yield read_fleet_journal(path, key)
            except (ValueError, KeyError, struct.error) as fault:
                raise _refused(path, f"is damaged ({fault})") from None


def _has_header(path: Path) -> bool:
    """Whether the file is long enough for its first record, if it is a journal at all."""
    with path.open("rb") as file:
        start = file.read(_FRAME.size)
    if len(start) < _FRAME.size:
        return False
    magic, length, _ = _FRAME.unpack(start)
    whole = path.stat().st_size >= _FRAME.size + length
    return bool(whole or length > MOST or magic != MAGIC)


def _records(data: bytes) -> Iterator[bytes]:
    at = 0
    while content := _record(data, at):
        yield content
        at += _FRAME.size + len(content)


def _record(data: bytes, at: int) -> bytes:
    """The content of the record that begins there; empty if it is not whole."""
    begin = at + _FRAME.size
    if begin > len(data):
        return b""
    magic, length, crc = _FRAME.unpack_from(data, at)
    if magic != MAGIC or length > min(MOST, len(data) - begin):
        return b""
    content = data[begin : begin + length]
    return content if zlib.crc32(content) == crc else b""


def _goes_on(data: bytes, at: int) -> bool:
    """Whether a whole record follows later on; `at` is where one should be.

    The work is bounded by the size of the file: as many bytes as it has are compared with checksums
    at most, of the candidates in order.
    """
    left = len(data)
    while (at := data.find(MAGIC, at + 1)) >= 0 and left > 0:
        if _record(data, at):
            return True
        if at + _FRAME.size <= len(data):
            left -= min(_FRAME.unpack_from(data, at)[1], len(data))
    return at >= 0


def _refused(path: Path, says: str) -> StoreError:
    return StoreError(f"{path.name} {says}", code="fleet.journal")
