"""Numbers that stand for outcomes, in kernels and in event tables. No compiler is needed here."""

COINCIDENT = -1  # of a cell: another agent is at the same position
NO_MASS = -2  # of a cell: it is empty or has no mass
# Of a wait: set by the self-trigger, by tau_min or by tau_max. FLOOR is also the mark of a velocity
# that could not be solved for.
IN_TIME, FLOOR, CEILING = 0, 1, 2
