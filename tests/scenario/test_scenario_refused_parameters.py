"""Controller, run and file parameters that are refused, one test per case."""

from __future__ import annotations

import pytest

# id: (overrides, key of the error, code, words that its sentence has)
REFUSED = {
    "P1": (["controller.t1=0.5"], "controller.t1", "timer.order", "controller.t2 = 0.2, got 0.5"),
    "P1-list": (["controller.t1=[0.1, 0.3, 0.1]"], "controller.t1[1]", "timer.order", "got 0.3"),
    "P1-lists": (
        ["controller.t1=[0.1, 0.1, 0.3]", "controller.t2=[0.2, 0.2, 0.25]"],
        "controller.t1[2]",
        "timer.order",
        "controller.t2[2] = 0.25",
    ),
    "P2-t1-0": (["controller.t1=0"], "controller.t1", "scenario.range", "greater than 0, got 0"),
    "P2-t1-negative": (["controller.t1=-1"], "controller.t1", "scenario.range", "got -1"),
    "P2-t2-0": (["controller.t2=0.0"], "controller.t2", "scenario.range", "greater than 0"),
    "P2-list": (["controller.t2=[1, 0, 1]"], "controller.t2[1]", "scenario.range", "got 0"),
    "P5": (["controller.t1=1e-14"], "controller.t1", "timer.resolution", "run.horizon"),
    "P5-list": (
        ["controller.t1=[0.1, 1e-14, 0.1]"],
        "controller.t1[1]",
        "timer.resolution",
        "2.84e-14",
    ),
    "P6-zero": (["controller.k1=0"], "controller.k1", "scenario.range", "greater than 0"),
    "P6-nan": (["controller.k1=nan"], "controller.k1", "scenario.not-finite", "finite"),
    "P7": (["certificate={eta_max=0, lipschitz=5}"], "certificate.eta_max", "scenario.range", "0"),
    "P8-epsilon-0": (["controller.epsilon=0"], "controller.epsilon", "scenario.range", "got 0"),
    "P8-epsilon-1": (["controller.epsilon=1"], "controller.epsilon", "scenario.range", "less than"),
    "P8-nu": (["controller.nu=0"], "controller.nu", "scenario.range", "greater than 0"),
    "P11-zero": (
        ["certificate={eta_max=1, lipschitz=0}"],
        "certificate.lipschitz",
        "scenario.range",
        "0",
    ),
    "P11-missing": (["certificate.eta_max=1"], "certificate.lipschitz", "scenario.missing-key", ""),
    "P12-t1": (["controller.t1=[0.1, 0.1]"], "controller.t1", "scenario.length", "3 in all, got 2"),
    "P12-t2": (["controller.t2=[1, 1, 1, 1]"], "controller.t2", "scenario.length", "got 4"),
    "P12-scatter": (
        ["agents.start={count = 5}", "controller.t1=[0.1, 0.1]"],
        "controller.t1",
        "scenario.length",
        "5 in all, got 2",
    ),
    "P12-lipschitz": (
        ["certificate={eta_max=1, lipschitz=[1]}"],
        "certificate.lipschitz",
        "scenario.length",
        "3",
    ),
    "P12-hold": (
        ["controller.initial_hold=[[0, 0]]"],
        "controller.initial_hold",
        "scenario.length",
        "got 1",
    ),
    "P12-timer": (
        ["controller.initial_timer=[0.1]"],
        "controller.initial_timer",
        "scenario.length",
        "got 1",
    ),
    "P12-intervals": (
        ["controller.reset=sequence", "controller.intervals=[[0.1], [0.1]]"],
        "controller.intervals",
        "scenario.length",
        "got 2",
    ),
    "P12-ids": (["agents.ids=[1, 2]"], "agents.ids", "scenario.length", "3 in all, got 2"),
    "P13-timer": (
        ["controller.initial_timer=0.3"],
        "controller.initial_timer",
        "timer.range",
        "got 0.3",
    ),
    "P13-hold": (
        ["controller.initial_hold=[[0, 0], [1, 1], [0, 0]]"],
        "controller.initial_hold[1]",
        "timer.hold",
        "controller.k1 = 1.0",
    ),
    "P16-negative": (["run.horizon=-1"], "run.horizon", "scenario.range", "at least 0, got -1"),
    "P16-inf": (["run.horizon=inf"], "run.horizon", "scenario.not-finite", "got inf"),
    "P16-nan": (["run.horizon=nan"], "run.horizon", "scenario.not-finite", "got nan"),
    "P18-zero": (
        ["run.record.sample_every=0"],
        "run.record.sample_every",
        "scenario.range",
        'sample_every = "off"',
    ),
    "P18-negative": (
        ["run.record.sample_every=-1"],
        "run.record.sample_every",
        "scenario.range",
        "got -1",
    ),
    "P18-word": (
        ["run.record.sample_every=never"],
        "run.record.sample_every",
        "scenario.type",
        '"off"',
    ),
    "P18-tiny": (
        ["run.record.sample_every=1e-11"],
        "run.record.sample_every",
        "run.samples",
        "1e+12 samples or about 4.8e+04 GB",
    ),
    "P18-subnormal": (
        ["run.record.sample_every=5e-324"],
        "run.record.sample_every",
        "run.samples",
        "samples",
    ),
    "P19-negative": (["run.seed=-1"], "run.seed", "scenario.range", "at least 0, got -1"),
    "P19-float": (["run.seed=1.5"], "run.seed", "scenario.type", "whole number, got 1.5"),
    "P19-whole-float": (["run.seed=1.0"], "run.seed", "scenario.type", "whole number"),
    "P19-bool": (["run.seed=true"], "run.seed", "scenario.type", "got true"),
    "P19-string": (["run.seed='7'"], "run.seed", "scenario.type", 'got "7"'),
    "P19-too-long": (["run.seed=0x" + "f" * 5000], "run.seed", "scenario.range", "3900 digits"),
    "P20-unknown": (["zzz=1"], "zzz", "scenario.unknown-key", "known here are"),
    "P20-misspelt": (
        ["contoller.t2=1"],
        "contoller",
        "scenario.unknown-key",
        "did you mean controller?",
    ),
    "P20-case": (
        ["controller.T2=1"],
        "controller.T2",
        "scenario.unknown-key",
        "did you mean controller.t2?",
    ),
    "P20-level": (["horizon=1"], "horizon", "scenario.unknown-key", "did you mean run.horizon?"),
    "P20-tag": (["controller.timer=1"], "controller.timer", "scenario.unknown-key", ""),
    "P20-own-tag": (
        ["run.integration={kind='exact', exact=1}"],
        "run.integration.exact",
        "scenario.unknown-key",
        "known here are kind",
    ),
    "P20-part": (
        ["density={kind='mixture', parts=[{kind='gaussian', centre=[0, 0], rate=1}]}"],
        "density.parts[0].centre",
        "scenario.unknown-key",
        "density.parts[0].center?",
    ),
    "P22-date": (["run.horizon=2026-01-01"], "run.horizon", "scenario.type", "2026-01-01"),
    "P22-1e400": (["run.horizon=1e400"], "run.horizon", "scenario.not-finite", "got inf"),
    "P22-long-int": (["run.horizon=1" + "0" * 400], "run.horizon", "scenario.not-finite", ""),
    "P24-newer": (
        ["schema_version=2", "zzz=1"],
        "schema_version",
        "scenario.version",
        "needs a newer dwell",
    ),
    "P24-zero": (["schema_version=0"], "schema_version", "scenario.range", "at least 1"),
    "P24-bool": (["schema_version=true"], "schema_version", "scenario.type", "whole number"),
    "period-misplaced": (["controller.period=0.1"], "controller.period", "timer.reset", "periodic"),
    "period-range": (
        ["controller.reset=periodic", "controller.period=0.3"],
        "controller.period",
        "timer.range",
        "t2 = 0.2",
    ),
    "intervals-missing": (
        ["controller.reset=sequence"],
        "controller.intervals",
        "scenario.missing-key",
        "needs it",
    ),
    "intervals-misplaced": (
        ["controller.intervals=[0.1]"],
        "controller.intervals",
        "timer.reset",
        "sequence",
    ),
    "intervals-range": (
        ["controller.reset=sequence", "controller.intervals=[0.1, 0.3]"],
        "controller.intervals[1]",
        "timer.range",
        "got 0.3",
    ),
    "intervals-range-each": (
        ["controller.reset=sequence", "controller.intervals=[[0.1], [0.1, 0.01], [0.1]]"],
        "controller.intervals[1][1]",
        "timer.range",
        "got 0.01",
    ),
    "intervals-empty": (
        ["controller.reset=sequence", "controller.intervals=[]"],
        "controller.intervals",
        "scenario.length",
        "at least 1",
    ),
    "intervals-mixed": (
        ["controller.reset=sequence", "controller.intervals=[[0.1], 0.1, [0.1]]"],
        "controller.intervals[1]",
        "scenario.type",
        "list of numbers",
    ),
    "loss-missing": (["controller.reset=dropout"], "controller.loss", "scenario.missing-key", ""),
    "loss-misplaced": (["controller.loss=0.5"], "controller.loss", "timer.reset", "dropout"),
    "loss-one": (
        ["controller.reset=dropout", "controller.loss=1"],
        "controller.loss",
        "scenario.range",
        "",
    ),
    "spacing": (
        ["run.integration={kind='grid', spacing=0}"],
        "run.integration.spacing",
        "scenario.range",
        "",
    ),
    "spacing-without-kind": (
        ["run.integration.spacing=1"],
        "run.integration.kind",
        "scenario.missing-key",
        "grid",
    ),
    "max-jumps": (["run.max_jumps=0"], "run.max_jumps", "scenario.range", "at least 1"),
    "covered": (["run.nu=0"], "run.nu", "scenario.range", "greater than 0"),
    "name-empty": (["name=''"], "name", "scenario.text", "1 to 200"),
    "name-number": (["name=5"], "name", "scenario.type", "text"),
    "name-lines": (['name="a\\nb"'], "name", "scenario.text", "one line"),
}


@pytest.mark.parametrize(("overrides", "key", "code", "words"), REFUSED.values(), ids=REFUSED)
def test_refuses(refused, overrides, key, code, words):
    error = refused(*overrides)
    assert error.key == key
    assert error.code == code
    assert str(error).startswith(f"{key} ")
    assert words in str(error)
    assert len(str(error).splitlines()) == 1
