"""The theorem's conditions, and the constants, rates and designs that follow from them."""

from dwell.theory.certificate import max_dwell_time, max_gain

__all__ = ["max_dwell_time", "max_gain"]
