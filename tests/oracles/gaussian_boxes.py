"""Gaussians over boxes with sides along their axes, in closed form and 60 digits."""

import mpmath as mp


def along_axis(a, b, c, rate):
    """Mass, mean and variance of exp(-rate (t - c)**2) between a and b, to 40 digits."""
    with mp.workdps(60):
        a, b, c, rate = (mp.mpf(v) for v in (a, b, c, rate))
        root = mp.sqrt(rate)
        low, high = root * (a - c), root * (b - c)
        if low > 0:
            mass = mp.erfc(low) - mp.erfc(high)
        elif high < 0:
            mass = mp.erfc(-high) - mp.erfc(-low)
        else:
            mass = mp.erf(high) - mp.erf(low)
        mass *= mp.sqrt(mp.pi) / (2 * root)
        first = (mp.exp(-low * low) - mp.exp(-high * high)) / (2 * rate)
        edge = (b - c) * mp.exp(-high * high) - (a - c) * mp.exp(-low * low)
        mean = first / mass
        return mass, mean + c, (mass - edge) / (2 * rate) / mass - mean * mean


def in_box(box, center, rates):
    """Logarithm of the mass, centroid, and second moment over the mass."""
    parts = [along_axis(*ends) for ends in zip(box.lower, box.upper, center, rates, strict=True)]
    with mp.workdps(60):
        log_mass = sum(mp.log(mass) for mass, _, _ in parts)
        return log_mass, [mean for _, mean, _ in parts], sum(v for _, _, v in parts)
