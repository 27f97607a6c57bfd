"""The boundary of a cell cut into sectors: see sheets.py.

Arcs are cut into pieces short enough for a Gauss rule. On a piece u = M + P cos + Q sin with
cos = (1 - w**2) / (1 + w**2), sin = 2 w / (1 + w**2) and w from -W to W: everything to be
integrated is a rational function of w.
"""

import math

from dwell._kernels._jit import inner
from dwell._kernels.common.algebra import (
    along,
    cross,
    dot,
    less,
    roots_between,
    row_of,
    scaled,
    solve_upper,
    upper,
)
from dwell._kernels.common.quadrature import NODES, WEIGHTS
from dwell._kernels.star.arrangement import SPAN, UX, X0, X1, Y0, Y1, E, F, M, value
from dwell._kernels.star.sheets import (
    APEX,
    BORDER,
    CLEARANCE,
    CX,
    CY,
    KIND,
    LEAN,
    ON,
    ON_SHEET,
    ON_WORKSPACE,
    POINTS,
    POLE,
    SHEET,
    SIGN,
    W0,
    W1,
    WITHOUT_BORDER,
    along_arc,
    border_point,
    edge_of_patch,
    flatter,
    off_region,
    on_sheet,
    over_plane,
    region_gauge,
    row_of_region,
    set_frames,
    slopes_on_sheet,
)

FAR = 4.25  # poles lie outside the ellipse of an error below 4**-24, times their order's powers
DEEPEST = 60  # halvings of a piece
NEWTON = 12
DEEP = 0.25  # of the largest depth of a sheet in the workspace: at the apex of its fan, at least
HALVINGS = 20
OPPOSITE = 1.3  # sheets gauge so much more than the workspace opposite to a pole
FEW = 5  # nodes for the mean of a patch


@inner
def quarter(e, step, arc):
    """Piece number `step` of at most a quarter turn: (x0, y0, x1, y1, whether it is the last)."""
    x0 = arc[e, X0]
    y0 = arc[e, Y0]
    for _ in range(step):
        x0, y0 = -y0, x0
    if arc[e, SPAN] - step > 1.0:
        return x0, y0, -y0, x0, False
    return x0, y0, arc[e, X1], arc[e, Y1], True


@inner
def middle(x0, y0, x1, y1):
    """Half-way along a piece: (cos and sin of the middle, W)."""
    x = x0 + x1
    y = y0 + y1
    r = math.sqrt(x * x + y * y)
    x /= r
    y /= r
    return x, y, (x * y1 - y * x1) / (1.0 + (x * x1 + y * y1))


@inner
def is_short(f0, f1, f2, w):
    """Whether f0 + f1 cos + f2 sin is far from 0 all round a piece, also at complex places."""
    a = f0 + f1
    c = f0 - f1
    inside = f2 * f2 - a * c  # roots of c w**2 + 2 f2 w + a
    if inside >= 0.0:
        root = math.sqrt(inside)
        high = abs(f2) + root
        if abs(c) > 0.0 and 2.0 * high < FAR * w * abs(c):
            return False
        return not 2.0 * abs(a) < FAR * w * high
    re = -f2 / c
    im = math.sqrt(-inside) / c
    near = math.sqrt((re - w) * (re - w) + im * im) + math.sqrt((re + w) * (re + w) + im * im)
    return near >= FAR * w


@inner
def put_sector(n, kind, e, k, sign, cx, cy, w0, w1, buffers):
    """Note a sector as number n; return n + 1."""
    if n >= buffers.sector.shape[0]:
        buffers.flag[0] = 1
        return n
    row = buffers.sector[n]
    row[KIND], row[BORDER], row[SHEET], row[SIGN] = kind, e, k, sign
    row[CX], row[CY], row[W0], row[W1] = cx, cy, w0, w1
    return n + 1


@inner
def cuts_of(e, cx, cy, w, buffers):
    """Where border e, about (cx, cy), leaves the workspace between -w and w: how many, in cuts.

    There |W U|**2 - 2 W U . L F - C F**2 = 0 with the polynomials U and F that u and f are, times
    1 + w**2.
    """
    region = buffers.region
    low = flatter(e, buffers.gauge, buffers.owner)
    f0, f1, f2 = along_arc(low, e, cx, cy, buffers.gauge, buffers.arc)
    m = row_of(buffers.arc, e, M)
    p = along(scaled(cx, row_of(buffers.arc, e, E)), cy, row_of(buffers.arc, e, F))
    q = along(scaled(cx, row_of(buffers.arc, e, F)), -cy, row_of(buffers.arc, e, E))
    u0 = upper(region, along(m, 1.0, p))
    u1 = upper(region, along(q, 1.0, q))
    u2 = upper(region, less(m, p))
    g0, g1, g2 = f0 + f1, 2.0 * f2, f0 - f1
    lean = row_of_region(LEAN, region)
    l0, l1, l2 = 2.0 * dot(u0, lean), 2.0 * dot(u1, lean), 2.0 * dot(u2, lean)
    c = region[CLEARANCE]
    a = buffers.quartic
    a[0] = dot(u0, u0) - l0 * g0 - c * g0 * g0
    a[1] = 2.0 * dot(u0, u1) - l0 * g1 - l1 * g0 - 2.0 * c * g0 * g1
    a[2] = 2.0 * dot(u0, u2) + dot(u1, u1) - l0 * g2 - l1 * g1 - l2 * g0
    a[2] -= c * (2.0 * g0 * g2 + g1 * g1)
    a[3] = 2.0 * dot(u1, u2) - l1 * g2 - l2 * g1 - 2.0 * c * g1 * g2
    a[4] = dot(u2, u2) - l2 * g2 - c * g2 * g2
    return roots_between(a, -w, w, buffers.cuts)


@inner
def put_sectors(n, planar, curved, e, cx, cy, w, buffers):
    """Note both sectors of a piece of border e, cut where it leaves the workspace."""
    cuts = cuts_of(e, cx, cy, w, buffers) if curved else 0
    begin = -w
    for i in range(cuts + 1):
        end = buffers.cuts[0, i] if i < cuts else w
        if end > begin:
            n = put_sector(n, ON_SHEET, e, buffers.owner[e, 0], 1.0, cx, cy, begin, end, buffers)
            if not planar:
                n = put_sector(
                    n, ON_SHEET, e, buffers.owner[e, 1], -1.0, cx, cy, begin, end, buffers
                )
        begin = end
    return n


@inner
def sectors_of_borders(planar, curved, arcs, buffers):
    """Sectors of all sheets at all borders; return how many."""
    n = 0
    gauge, arc, stack = buffers.gauge, buffers.arc, buffers.stack
    for e in range(arcs):
        low = flatter(e, gauge, buffers.owner)
        last = False
        step = 0
        while not last:
            x0, y0, x1, y1, last = quarter(e, step, arc)
            step += 1
            depth = 0
            stack[0, 0], stack[0, 1] = x1, y1  # where the pieces end that wait
            while depth >= 0:
                x1, y1 = stack[depth, 0], stack[depth, 1]
                x, y, w = middle(x0, y0, x1, y1)
                f0, f1, f2 = along_arc(low, e, x, y, gauge, arc)
                if depth < DEEPEST and not is_short(f0, f1, f2, w):
                    depth += 1
                    stack[depth, 0], stack[depth, 1] = x, y
                    continue
                n = put_sectors(n, planar, curved, e, x, y, w, buffers)
                x0, y0 = x1, y1
                depth -= 1
    return n


@inner
def is_outside(i, buffers):
    """Whether the middle of the border of sector i lies outside the workspace."""
    row = buffers.sector[i]
    y, _ = border_point(row, 0.5 * (row[W0] + row[W1]), buffers)
    return off_region(y, buffers.region) > 0.0


@inner
def deepest(k, buffers):
    """X of the point of sheet k deepest in the workspace, nearly: (a, b, off_region there)."""
    gauge, frame, region = buffers.gauge, buffers.frame, buffers.region
    a = b = 0.0
    for _ in range(NEWTON):  # Gauss-Newton for |W y - L|
        y, normal = on_sheet(k, a, b, gauge, frame)
        v = less(upper(region, y), row_of_region(LEAN, region))
        j1, j2 = slopes_on_sheet(k, normal, buffers)
        g11, g12, g22 = dot(j1, j1), dot(j1, j2), dot(j2, j2)
        r1, r2 = dot(j1, v), dot(j2, v)
        det = g11 * g22 - g12 * g12
        a -= (g22 * r1 - g12 * r2) / det
        b -= (g11 * r2 - g12 * r1) / det
    return a, b, off_region(on_sheet(k, a, b, gauge, frame)[0], region)


@inner
def is_largest(k, count, y, gauge):
    """Whether no sheet bounds the cell before sheet k in the direction of its point y."""
    r = math.sqrt(dot(y, y))
    u = (y[0] / r, y[1] / r, y[2] / r)
    own = value(k, u, gauge)
    for i in range(count):
        if value(i, u, gauge) > own * (1.0 + ON):
            return False
    return True


@inner
def set_apices(curved, count, sectors, buffers):
    """The apex of the fan of each sheet: the mean of points of its borders in the workspace."""
    frame = buffers.frame
    for i in range(sectors):
        row = buffers.sector[i]
        k = int(row[SHEET])
        for part in range(3):
            w = row[W0] + 0.5 * part * (row[W1] - row[W0])
            y, _ = border_point(row, w, buffers)
            if not curved or off_region(y, buffers.region) <= ON:
                a, b = over_plane(k, y, frame)
                frame[k, APEX] += a
                frame[k, APEX + 1] += b
                frame[k, POINTS] += 1.0
    for k in range(count):
        points = frame[k, POINTS]
        if points > 0.0:
            frame[k, APEX] /= points
            frame[k, APEX + 1] /= points
        if curved:
            set_inner_fan(k, count, points > 0.0, buffers)


@inner
def set_inner_fan(k, count, bounded, buffers):
    """Move the apex of the fan of sheet k away from the boundary of the workspace.

    bounded: some point of its borders lies in the workspace. If none does, the sheet is a part of
    the cell's boundary if its deepest point is.
    """
    frame = buffers.frame
    a, b, depth = deepest(k, buffers)
    y, _ = on_sheet(k, a, b, buffers.gauge, frame)
    if not depth < -ON or not (bounded or is_largest(k, count, y, buffers.gauge)):
        frame[k, POINTS] = 0.0
        return
    if not bounded:
        frame[k, APEX], frame[k, APEX + 1], frame[k, POINTS] = a, b, 1.0
    for _ in range(HALVINGS):
        y, _ = on_sheet(k, frame[k, APEX], frame[k, APEX + 1], buffers.gauge, frame)
        if off_region(y, buffers.region) < DEEP * depth:
            break
        frame[k, APEX] = 0.5 * (frame[k, APEX] + a)
        frame[k, APEX + 1] = 0.5 * (frame[k, APEX + 1] + b)


@inner
def set_pole(count, first, last, buffers):
    """The pole of the patch of the sphere with sectors first to last - 1.

    Opposite to the mean of the patch if the cell does not reach there, else opposite to the place
    that is farthest beyond a sheet.
    """
    region, gauge = buffers.region, buffers.gauge
    n = (0.0, 0.0, 0.0)
    for i in range(first, last):
        for k in range(FEW):
            y, dy = edge_of_patch(buffers.sector[i], NODES[FEW, k], buffers)
            n = along(n, buffers.sector[i, SIGN] * WEIGHTS[FEW, k], cross(y, dy))
    size = math.sqrt(dot(n, n))
    best = 0.0
    for j in range(count + 1):
        if j == 0:
            if size == 0.0:
                continue
            place = (-n[0] / size, -n[1] / size, -n[2] / size)
            v = along(place, 1.0, row_of_region(LEAN, region))
            u = solve_upper(region, v)
        else:
            u = row_of(gauge, j - 1, UX)
        r = math.sqrt(dot(u, u))
        u = (u[0] / r, u[1] / r, u[2] / r)
        own = region_gauge(u, region)
        most = 0.0
        for k in range(count):
            most = max(most, value(k, u, gauge) / own)
        if most > best:
            best = most
            v = less(upper(region, u), scaled(own, row_of_region(LEAN, region)))
            r = math.sqrt(dot(v, v))
            region[POLE], region[POLE + 1], region[POLE + 2] = -v[0] / r, -v[1] / r, -v[2] / r
            if j == 0 and most > OPPOSITE:
                break


@inner
def put_whole_sphere(n, buffers):
    """Note the whole sphere as eight sectors, about both ends of the third axis."""
    buffers.region[POLE], buffers.region[POLE + 1], buffers.region[POLE + 2] = 0.0, 0.0, 1.0
    w = math.sqrt(2.0) - 1.0
    for pole in range(2):
        sign = 1.0 - 2.0 * pole
        for k in range(4):
            cx = 1.0 - k if k % 2 == 0 else 0.0
            cy = 2.0 - k if k % 2 == 1 else 0.0
            n = put_sector(n, WITHOUT_BORDER, 0, 0, sign, cx, cy, -w, w, buffers)
    return n


@inner
def on_workspace(u, region):
    """The place on the unit sphere that is seen in the direction u."""
    r = 1.0 / region_gauge(u, region)
    return less(upper(region, scaled(r, u)), row_of_region(LEAN, region))


@inner
def put_workspace_arcs(n, row, buffers):
    """Note the arcs of the workspace's boundary behind a sector, in the plane."""
    x0, y0, _ = on_workspace(border_point(row, row[W0], buffers)[0], buffers.region)
    x1, y1, _ = on_workspace(border_point(row, row[W1], buffers)[0], buffers.region)
    angle = math.atan2(x0 * y1 - y0 * x1, x0 * x1 + y0 * y1)
    if angle < 0.0:
        angle += 2.0 * math.pi
    parts = 1 + int(angle * 2.0 / math.pi)
    start = math.atan2(y0, x0)
    half = 0.5 * angle / parts
    w = math.tan(0.5 * half)
    for k in range(parts):
        at = start + (2 * k + 1) * half
        n = put_sector(n, WITHOUT_BORDER, 0, 0, 1.0, math.cos(at), math.sin(at), -w, w, buffers)
    return n


@inner
def sectors_of(planar, curved, count, arcs, buffers):
    """All sectors of the boundary of the cell with these borders, in buffers.sector; how many."""
    set_frames(count, buffers.gauge, buffers.frame)
    n = sectors_of_borders(planar, curved, arcs, buffers)
    if not planar:
        set_apices(curved, count, n, buffers)
    if not curved:
        return n
    sheets = n
    inside = False
    for i in range(sheets):
        row = buffers.sector[i]
        k = int(row[SHEET])
        reaches = planar or buffers.frame[k, POINTS] > 0.0
        outside = is_outside(i, buffers)
        if outside and planar:
            n = put_workspace_arcs(n, row, buffers)
        elif outside and reaches:
            n = put_sector(
                n, ON_WORKSPACE, int(row[BORDER]), k, -row[SIGN], row[CX], row[CY], row[W0],
                row[W1], buffers,
            )  # fmt: skip
        inside = inside or (reaches and not (planar and outside))
        if (planar and outside) or not reaches:
            row[SIGN] = 0.0
    if planar:
        return n
    if n > sheets:
        set_pole(count, sheets, n, buffers)
    elif not inside:
        n = put_whole_sphere(n, buffers)
    return n
