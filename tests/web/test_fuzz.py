"""Requests made up from the server's own description: no answer is a fault of the server."""

from __future__ import annotations

from pathlib import Path

import pytest
import schemathesis
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from dwell.web.app import create_app
from dwell.web.limits import Limits
from tests.scenario.test_scenario_fuzz import exchanged, places
from tests.web.servers import scenario

EXAMPLES = 6
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]


SCHEMA = schemathesis.openapi.from_dict(create_app(Limits(), Path()).openapi())
OPERATIONS = {found.ok().label: found.ok() for found in SCHEMA.get_all_operations()}


@pytest.mark.parametrize("label", OPERATIONS)
@pytest.mark.parametrize("mode", list(GenerationMode), ids=lambda mode: mode.name.lower())
def test_no_answer_is_a_fault_of_the_server(server, label, mode):
    """Requests that are as described, and requests that are not."""
    cases = OPERATIONS[label].as_strategy(generation_mode=mode)

    @settings(max_examples=EXAMPLES, phases=[Phase.generate], database=None)
    @given(case=cases)
    def ask(case):
        answer = case.call(base_url=server.url)
        case.validate_response(answer, checks=CHECKS)
        if answer.status_code == 202:
            server.http.delete(answer.headers["location"][0])

    try:
        ask()
    except Unsatisfiable:
        assert mode is GenerationMode.NEGATIVE  # a request without parameters cannot be wrong


# Scenarios that are nearly right: one value of a template is another one.

TEMPLATES = {name: scenario(name, horizon=0.5) for name in ("two-hills", "paper-30", "line-8")}
ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 40),
    st.sampled_from([-1.0, 0.0, 5e-324, 1e-9, 0.3, 1e6, 1e70, 1e300, 2**70]),
    st.sampled_from(["", "timer", "uniform", "grid", "off", "summary", "../x", "os:system", "é\n"]),
    st.lists(st.floats(-9, 9), max_size=4),
    st.lists(st.lists(st.floats(-9, 9), min_size=1, max_size=3), max_size=4),
    st.dictionaries(st.sampled_from(["kind", "count", "x"]), st.integers(0, 9), max_size=2),
)


@settings(max_examples=80)
@given(data=st.data())
def test_scenarios_that_are_nearly_right(only, data):
    server = only
    body = TEMPLATES[data.draw(st.sampled_from(sorted(TEMPLATES)))]
    for _ in range(data.draw(st.integers(1, 2))):
        path = data.draw(st.sampled_from([where for where in places(body) if where]))
        body = exchanged(body, path, data.draw(ODD))
    path = data.draw(st.sampled_from(["/api/validate", "/api/runs", "/api/design"]))
    answer = server.post(body, path)
    assert answer.status_code in (200, 202, 422), (body, answer.text)
    if answer.status_code == 202:
        run = answer.json()["id"]
        job = server.wait(run, "done", "failed")
        server.http.delete(f"/api/runs/{run}")
        if job["status"] == "failed":  # it may be refused late, but not by accident
            assert not job["error"]["code"].startswith("job."), (body, job)
            assert job["error"]["code"] != "web.worker-lost", (body, job)
