"""Workspaces, densities and starts that are refused, one test per case."""

from __future__ import annotations

import pytest

GAUSS = "density={kind='gaussian', center=[0, 0], "
# id: (overrides, key of the error, code, words that its sentence has)
REFUSED = {
    "A17": (["agents.start=[]"], "agents.start", "agents.empty", "at least 1 entry, got 0"),
    "A17-count": (["agents.start={count=0}"], "agents.start.count", "scenario.range", "at least 1"),
    "A18-count": (["agents.start={count=2147483648}"], "agents.start.count", "scenario.range", ""),
    "A19": (["agents.start=[[1, 1], [inf, 0]]"], "agents.start[1]", "scenario.point", "[inf, 0]"),
    "A20": (["agents.start=[[1, 1], [1, 2, 3]]"], "agents.start[1]", "scenario.point", "two"),
    "A20-flat": (["agents.start=[1]"], "agents.start[0]", "scenario.dimension", "got 1"),
    "A22": (["agents.ids=[4, 5, 4]"], "agents.ids[2]", "agents.ids", "as in ids[0]"),
    "A22-range": (["agents.ids=[0, 1, 2147483648]"], "agents.ids[2]", "scenario.range", ""),
    "A22-negative": (["agents.ids=[0, 1, -1]"], "agents.ids[2]", "scenario.range", "at least 0"),
    "W13": (["workspace.lower=['a', 0]"], "workspace.lower", "scenario.point", ""),
    "box": (["workspace.lower=[5, 0]"], "workspace.lower[0]", "scenario.box", "upper[0] = 4.0"),
    "flat-region": (
        ["agents.start={count=1, region={lower=[0, 0], upper=[0, 1]}}"],
        "agents.start.region.lower[0]",
        "scenario.box",
        "less than",
    ),
    "no-table": (["workspace=5"], "workspace", "scenario.type", "needs a table, got 5"),
    "no-kind": (["workspace={}"], "workspace.kind", "scenario.missing-key", "polygon, box,"),
    "kind-number": (["workspace.kind=3"], "workspace.kind", "scenario.kind", "got 3"),
    "kind-near": (["density.kind=gausian"], "density.kind", "scenario.kind", 'mean "gaussian"?'),
    "start-number": (["agents.start=5"], "agents.start", "scenario.type", "a table with count"),
    "region-word": (
        ["agents.start={count=1, region='x'}"],
        "agents.start.region",
        "scenario.kind",
        "workspace",
    ),
    "region-number": (
        ["agents.start={count=1, region=2}"],
        "agents.start.region",
        "scenario.kind",
        "got 2",
    ),
    "level": (["density={kind='uniform', level=0}"], "density.level", "scenario.range", ""),
    "power": (
        ["density={kind='polynomial', terms=[[0, 0, 1], [13, 4, 1]]}"],
        "density.terms[1]",
        "scenario.term",
        "i + j at most 16",
    ),
    "power-float": (
        ["density={kind='polynomial', terms=[[1.0, 0, 1]]}"],
        "density.terms[0]",
        "scenario.term",
        "whole",
    ),
    "no-terms": (
        ["density={kind='polynomial', terms=[]}"],
        "density.terms",
        "scenario.length",
        "at least 1",
    ),
    "rate-or-covariance": (
        ["density={kind='gaussian', center=[0, 0]}"],
        "density.rate",
        "scenario.missing-key",
        "either",
    ),
    "rate-and-covariance": (
        [GAUSS + "rate=1, covariance=[[1, 0], [0, 1]]}"],
        "density.covariance",
        "density.gaussian",
        "keep one",
    ),
    "covariance-shape": (
        [GAUSS + "covariance=[[1, 0]]}"],
        "density.covariance",
        "scenario.matrix",
        "2 by 2",
    ),
    "covariance-asymmetric": (
        [GAUSS + "covariance=[[1, 0.1], [0, 1]]}"],
        "density.covariance",
        "density.covariance",
        "symmetric",
    ),
    "covariance-indefinite": (
        [GAUSS + "covariance=[[1, 2], [2, 1]]}"],
        "density.covariance",
        "density.covariance",
        "positive definite",
    ),
    "covariance-negative": (
        [GAUSS + "covariance=[[-1, 0], [0, -1]]}"],
        "density.covariance",
        "density.covariance",
        "positive definite",
    ),
    "weight": ([GAUSS + "rate=1, weight=0}"], "density.weight", "scenario.range", ""),
    "no-parts": (["density={kind='mixture', parts=[]}"], "density.parts", "scenario.length", "1"),
    "bad-part": (
        ["density={kind='mixture', parts=[{kind='callable', function='a:b'}]}"],
        "density.parts[0].kind",
        "scenario.kind",
        "uniform, polynomial or gaussian",
    ),
    "function": (
        ["density={kind='callable', function='os.system'}"],
        "density.function",
        "scenario.function",
        "package.module:name",
    ),
    "function-code": (
        ["density={kind='callable', function='os:system(1)'}"],
        "density.function",
        "scenario.function",
        "",
    ),
}


@pytest.mark.parametrize(("overrides", "key", "code", "words"), REFUSED.values(), ids=REFUSED)
def test_refuses(refused, overrides, key, code, words):
    error = refused(*overrides)
    assert error.key == key
    assert error.code == code
    assert str(error).startswith(f"{key} ")
    assert words in str(error)
    assert len(str(error).splitlines()) == 1
