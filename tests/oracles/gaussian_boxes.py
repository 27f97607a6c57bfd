"""Gaussians over boxes with sides along their axes, in closed form and many digits."""

import mpmath as mp

from tests.oracles.mp_moments import erf_difference


def along_axis(a, b, c, rate, digits=60):
    """Mass, mean and variance of exp(-rate (t - c)**2) between a and b."""
    with mp.workdps(digits):
        a, b, c, rate = (mp.mpf(v) for v in (a, b, c, rate))
        root = mp.sqrt(rate)
        low, high = root * (a - c), root * (b - c)
        mass = erf_difference(low, high) * mp.sqrt(mp.pi) / (2 * root)
        first = (mp.exp(-low * low) - mp.exp(-high * high)) / (2 * rate)
        edge = (b - c) * mp.exp(-high * high) - (a - c) * mp.exp(-low * low)
        mean = first / mass
        return mass, mean + c, (mass - edge) / (2 * rate) / mass - mean * mean


def in_box(lower, upper, center, rates, digits=60):
    """Logarithm of the mass, centroid, and second moment over the mass."""
    ends = zip(lower, upper, center, rates, strict=True)
    parts = [along_axis(*end, digits=digits) for end in ends]
    with mp.workdps(digits):
        log_mass = sum(mp.log(mass) for mass, _, _ in parts)
        return log_mass, [mean for _, mean, _ in parts], sum(v for _, _, v in parts)
