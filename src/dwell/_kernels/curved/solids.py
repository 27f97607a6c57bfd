"""Many cells in an ellipsoid of space, one after another."""

from dwell._kernels._jit import njit
from dwell._kernels.curved.breaks import seen_from
from dwell._kernels.curved.slices import WIDTHS, cell_moments


@njit
def room_for_breaks(planes, hills):
    """How many heights a cell between so many planes may have breaks at."""
    return 20 * planes + 64 + WIDTHS.shape[0] * hills


@njit
def weigh_many(
    lo, hi, first, planes, w, center, places, general, group, flat, breaks, shows, pieces, out,
    scales, s, r,
):  # fmt: skip
    """Cells lo..hi: the agent at places[k], between planes first[k] to first[k + 1] - 1.

    Fills out[k], scales[k] and `shows`, one entry per plane: see slices.cell_moments. What a cell
    weighs does not depend on how much room there is for others.
    """
    hills = general.weights.shape[0]
    for k in range(lo, hi):
        i = first[k]
        j = first[k + 1]
        a, sigma = seen_from(places[k], center, w)
        scales[k] = cell_moments(
            j - i, planes[i:j], w, a, sigma, places[k], general, group, flat,
            breaks[: room_for_breaks(j - i, hills)], shows[i:j], pieces, out[k], s, r,
        )  # fmt: skip
