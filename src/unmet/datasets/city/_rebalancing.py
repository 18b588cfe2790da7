"""Rebalancing at night: where vans fetch vehicles and where they bring them."""

VAN = 12  # vehicles a van carries
CLOCK = 2  # local hour at which the vans leave
_STEP = 420  # seconds between two tours of one van
DRIVE = 900  # seconds from fetching to bringing
_LAST = 3 * 3600  # the vans are home by five


def plan_night(stock: list[int], target: list[int], vehicles: int) -> list[tuple[int, int, int, int]]:
    """Pair the fullest places with the emptiest until the night is over.

    Returns
    -------
    list of (after, source, sink, load)
        Seconds from planning to pickup, the two places, and the number of vehicles.
    """
    surplus = sorted(((have - want, i) for i, (have, want) in enumerate(zip(stock, target)) if have > want))
    deficit = sorted(((want - have, i) for i, (have, want) in enumerate(zip(stock, target)) if want > have))
    vans = max(1, vehicles // 150)
    stops = vans * (_LAST - DRIVE) // _STEP
    jobs: list[tuple[int, int, int, int]] = []
    while surplus and deficit and len(jobs) < stops:
        more, source = surplus.pop()
        less, sink = deficit.pop()
        load = min(more, less, VAN)
        if load < 2 and jobs:
            break  # a stop for a single vehicle is not worth the drive
        # Odd seconds keep stops of different vans apart without random draws.
        after = (len(jobs) // vans) * _STEP + (len(jobs) % vans) * 11 + 7
        jobs.append((after, source, sink, load))
        for left, place, queue in ((more - load, source, surplus), (less - load, sink, deficit)):
            if left:
                queue.append((left, place))
                queue.sort()
    return jobs
