"""From the times that ping_pong has measured to a machine: latency and rate by size of the message."""

from models import machines

LEAST = 1e-10  # seconds: a latency that a fit may not go below
FASTEST = 1e12  # bytes a second: a rate that it may not go above


def line(points):
    """Latency and rate of the points (bytes, seconds), by least squares of the relative error."""
    s0 = sum(1 / (y * y) for _, y in points)
    s1 = sum(x / (y * y) for x, y in points)
    s2 = sum(x * x / (y * y) for x, y in points)
    r0, r1 = sum(1 / y for _, y in points), sum(x / y for x, y in points)
    determinant = s0 * s2 - s1 * s1
    latency = (r0 * s2 - r1 * s1) / determinant if determinant > 1e-12 * s0 * s2 else 0.0
    slope = (r1 * s0 - r0 * s1) / determinant if determinant > 1e-12 * s0 * s2 else 0.0
    if slope <= 0.0:  # the time does not depend on the size
        latency, slope = r0 / s0, 1 / FASTEST
    elif latency <= 0.0:
        latency, slope = LEAST, r1 / s2
    return latency, 1 / slope


def _error(points, latency, rate):
    return sum(((latency + x / rate) / y - 1) ** 2 for x, y in points)


def segments(points):
    """The points in two parts by size, each with its latency and rate, where that halves the squared error; else in one.
    MPI sends small messages at once and asks the receiver first for large ones."""
    points = sorted(points)
    best = [(points, *line(points))]
    least = _error(*best[0])
    for at in range(3, len(points) - 2):
        parts = [(part, *line(part)) for part in (points[:at], points[at:])]
        error = sum(_error(*part) for part in parts)
        if error < (0.5 * least if len(best) == 1 else least):
            best, least = parts, error
    return best


def injection_rate(points, senders, latency, rate):
    """Bytes a second that a node sends with all its senders, or infinity where they do not hinder each other: from
    equation (2.5) and the largest message. points: (bytes, seconds) with that many senders."""
    size, seconds = max(points)
    reached = senders * size / max(seconds - latency, LEAST)
    return reached if reached < 0.95 * senders * rate else float("inf")


def machine_of(measured, name, source):
    """The machine that ping_pong's object tells of."""
    links = {}
    for place in ("on_socket", "on_node", "network"):
        points = [(one["bytes"], one["seconds"]) for one in measured["links"] if one["place"] == place]
        if not points:
            continue
        parts = segments(points)
        links[place] = []
        for k, (part, latency, rate) in enumerate(parts):
            limit = float("inf")
            senders = max((one["senders"] for one in measured["injection"]), default=1)
            if place == "network" and senders > 1:
                together = [(one["bytes"], one["seconds"]) for one in measured["injection"] if one["senders"] == senders
                            and one["bytes"] in [size for size, _ in part]]
                limit = injection_rate(together, senders, latency, rate)
            up_to = max(size for size, _ in part) if k + 1 < len(parts) else float("inf")
            links[place].append(machines.Link(latency, rate, limit, up_to))
    # Ranks of a node on one socket only: messages on the node are those on the socket.
    links.setdefault("on_node", links.get("on_socket", []))
    border = links["network"][0].up_to if links.get("network") else float("inf")
    return machines.Machine(name, source, "", ranks_per_node=measured["ranks_per_node"], flop_time=measured["flop_time"],
                            eager_limit=int(border) if border < float("inf") else None, **links)
