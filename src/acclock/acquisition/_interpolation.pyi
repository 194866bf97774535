from acclock.values import FloatArray

def interpolate(
    rows: FloatArray,
    count: int,
    positions: FloatArray,
    weights: FloatArray,
    taps: int,
    out: FloatArray,
    /,
) -> None: ...
