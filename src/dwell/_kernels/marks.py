"""Notes that laws leave in the event table, as numbers. No compiler is needed to read them."""

IN_TIME, FLOOR, CEILING = 0, 1, 2  # what set an interval: the self-trigger, tau_min or tau_max
