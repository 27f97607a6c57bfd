"""Journals with seals: what was changed afterwards is refused by whoever has the secret."""

import json
import os
import zlib

import numpy as np
import pytest

import dwell
from dwell.errors import InputError, StoreError
from dwell.fleet import journal as journals
from dwell.fleet.journal import JournalWriter, read_fleet_journal
from dwell.fleet.single import AgentLinks, run_agent
from dwell.live.record import belief_type, sample_type
from tests.cli.shell import dwell as shell
from tests.fleet.fleets import scenario

KEY = bytes(range(32))
HEADER = {"run": "r", "host": "agent-0000", "boot": 0, "agents": [0], "dimension": 2}


def secret(folder, content=KEY, name="secret"):
    path = folder / name
    path.write_bytes(content.hex().encode())
    path.chmod(0o600)
    return path


def written(folder, key=KEY, name="a", times=(0.5, 1.0, 1.5)):
    writer = JournalWriter(folder / f"{name}.journal", HEADER | {"host": name}, key)
    for k, time in enumerate(times, start=1):
        row = np.zeros((), sample_type(2))
        row["k"], row["time"] = k, time
        writer.sample(row, np.zeros(k, belief_type(2)))
    writer.note(end=2.0)
    writer.close()
    return writer.path


def contents(path):
    return list(journals._records(path.read_bytes()))


def rewritten(path, records):
    """A journal of these records, whose checksums fit."""
    frames = [journals._FRAME.pack(journals.MAGIC, len(r), zlib.crc32(r)) + r for r in records]
    path.write_bytes(b"".join(frames))
    return path


@pytest.mark.parametrize("key", [None, KEY])
def test_seals_change_nothing_that_is_read(tmp_path, key):
    plain = read_fleet_journal(written(tmp_path, None, "plain"))
    sealed = read_fleet_journal(written(tmp_path, KEY, "sealed"), key)
    assert (plain.sealed, sealed.sealed) == (False, True)
    assert sealed.samples.tobytes() == plain.samples.tobytes()
    assert (sealed.counts.tolist(), sealed.ended, sealed.lost) == ([1, 2, 3], 2.0, 0)
    assert sealed.header == plain.header | {"host": "sealed"}
    more = [len(b) - len(a) for a, b in zip(*map(contents, (plain.path, sealed.path)), strict=True)]
    assert more == [journals.SEAL + 1] + [journals.SEAL] * 4  # the name is longer by 1


def flipped(records):
    records[2] = records[2][:40] + bytes([records[2][40] ^ 1]) + records[2][41:]


def changed_header(records):
    header = json.loads(records[0][1 : -journals.SEAL])
    records[0] = b"K" + json.dumps(header | {"run": "s"}).encode() + records[0][-journals.SEAL :]


def exchanged(records):
    records[1], records[2] = records[2], records[1]


def sealed_alone(records):
    content = records[2][: -journals.SEAL]
    records[2] = content + journals._seal(KEY, b"", content)


CHANGES = {
    "a bit": flipped, "the header": changed_header, "two records exchanged": exchanged,
    "a record left out": lambda records: records.pop(2),
    "the first record left out": lambda records: records.pop(1),
    "a record twice": lambda records: records.insert(2, records[2]),
    "a record of its own": sealed_alone,
    "a seal": lambda records: records.append(b"N{}" + bytes(journals.SEAL)),
    "too short for a seal": lambda records: records.append(b"N{}"),
}  # fmt: skip


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_changed_journals_are_refused(tmp_path, change):
    path = written(tmp_path)
    records = contents(path)
    change(records)
    with pytest.raises(StoreError, match=r"a\.journal was (changed|sealed with another key)"):
        read_fleet_journal(rewritten(path, records), KEY)


def test_records_of_another_journal_do_not_fit(tmp_path):
    records, other = (contents(written(tmp_path, name=name)) for name in "ab")
    with pytest.raises(StoreError, match="changed after it was written, by the seal of its record"):
        read_fleet_journal(rewritten(tmp_path / "a.journal", records[:2] + other[2:]), KEY)


def test_another_key_and_no_seals_are_refused(tmp_path):
    path = written(tmp_path)
    with pytest.raises(StoreError, match="sealed with another key"):
        read_fleet_journal(path, bytes(32))
    with pytest.raises(StoreError, match="has no seals; a key is given"):
        read_fleet_journal(written(tmp_path, None, "b"), KEY)
    stripped = [one[: -journals.SEAL] for one in contents(path)]
    stripped[0] = b"H" + stripped[0][1:]
    with pytest.raises(StoreError, match="has no seals"):
        read_fleet_journal(rewritten(path, stripped), KEY)


def test_a_sealed_journal_that_was_cut_off_is_whole_up_to_there(tmp_path):
    path = written(tmp_path)
    data = path.read_bytes()
    path.write_bytes(data[:-70])
    cut = read_fleet_journal(path, KEY)
    assert (len(cut.samples), cut.ended, cut.lost) == (2, None, 0)


def test_a_failed_write_does_not_break_the_chain(tmp_path, monkeypatch):
    writer = JournalWriter(tmp_path / "a.journal", HEADER, KEY)
    real = os.write
    monkeypatch.setattr(os, "write", lambda file, data: real(file, data[:5]))
    with pytest.raises(OSError, match="no space"):
        writer.note(a=1)
    monkeypatch.undo()
    writer.note(end=2.0)
    writer.close()
    assert read_fleet_journal(writer.path, KEY).ended == 2.0


def test_merge_refuses_a_journal_of_an_agent_that_was_changed(tmp_path):
    key, log = secret(tmp_path), tmp_path / "log"
    alone = scenario(agents={"start": [[2.0, 2.0]]}, horizon=0.7)
    run_agent(alone, 0, log, "lab", AgentLinks(key=key), lambda said: None, progress=False)
    (path,) = log.glob("*.journal")
    assert KEY not in path.read_bytes()
    out = tmp_path / "live.nc"
    assert shell("merge", log, "--key", key, "--out", out).code == 0
    assert shell("merge", log, "--out", out, "--force").code == 0
    assert dwell.check(out, progress=False).ok
    other = secret(tmp_path, bytes(32), "other")
    refused = shell("merge", log, "--key", other, "--out", out, "--force")
    assert "sealed with another key" in refused.err
    records = contents(path)
    flipped(records)
    rewritten(path, records)
    for more in ([], ["--partial"]):
        refused = shell("merge", log, "--key", key, "--out", out, "--force", *more)
        assert (refused.code != 0, "was changed after it was written" in refused.err) == (True,) * 2
    with pytest.raises(StoreError, match="was changed"):
        dwell.merge_journals(log, key=key)
    assert dwell.merge_journals(log).agents == 1  # as without a key


def test_keys_that_are_none_are_refused(tmp_path):
    written(tmp_path)
    with pytest.raises(InputError, match="cannot be read"):
        dwell.merge_journals(tmp_path, key=tmp_path / "no")
    open_to_all = secret(tmp_path)
    open_to_all.chmod(0o644)
    with pytest.raises(InputError, match="read or changed by other users"):
        dwell.merge_journals(tmp_path, key=open_to_all)
