from acclock.values import FloatArray

def pass_band(
    rows: FloatArray,
    count: int,
    edge: int,
    gain: FloatArray,
    turns: FloatArray,
    keep: int,
    out: FloatArray,
    /,
) -> None: ...
