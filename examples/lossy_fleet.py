"""Six agents as processes: half of all messages are lost, and one process is killed.

    python examples/lossy_fleet.py [RUN.nc]

The killed agent is started again and continues. Afterwards each sample of the run is verified.
"""

from __future__ import annotations

import os
import signal
import sys

import dwell
from dwell.fleet.launch import FleetProcess, FleetStatus

SCENARIO = {
    "workspace": {"kind": "polygon", "vertices": [[0, 0], [8, 0], [9, 5], [4, 7], [0, 6]]},
    "density": {"kind": "gaussian", "center": [6.0, 4.0], "rate": 0.2},
    "agents": {"start": {"count": 6, "region": "workspace", "seed": 1}},
    "controller": {"kind": "timer", "k1": 0.8, "nu": 0.8, "t1": 0.2, "t2": 0.65},
    "run": {"horizon": 6.0, "seed": 1},
    "fleet": {"faults": {"loss": 0.5, "delay": [0.0, 0.2], "repeat": 0.2, "seed": 1}},
}
VICTIM = 2


def main() -> None:
    """Run the fleet, kill one process after two seconds, and print what remained of the plan."""
    killed: list[float] = []

    def watch(status: FleetStatus, processes: FleetProcess) -> None:
        if status.time > 2.0 and not killed:
            killed.append(status.time)
            os.kill(processes.pids[VICTIM], signal.SIGKILL)

    out = sys.argv[1] if len(sys.argv) > 1 else None
    run = dwell.run_fleet(SCENARIO, out=out, watch=watch, progress=False)
    samples = run.details.live.samples
    own = samples[samples["agent"] == VICTIM]
    back = float(own["time"][own["boot"] == 1].min())
    simulated = dwell.run_scenario({**SCENARIO, "fleet": {}}, progress=False)
    print(f"{len(samples)} samples; agent {VICTIM} was killed at t = {killed[0]:.2f}")
    print(f"and sampled again at t = {back:.2f}")
    print(f"cost {run.cost(6.0):.2f}; without losses {simulated.cost(6.0):.2f}")
    print("verified:", dwell.check(run, progress=False).ok)


if __name__ == "__main__":
    main()
