from acclock.values import FloatArray

def resemble(
    rows: FloatArray, count: int, block: int, hop: int, lag: int, out: FloatArray, /
) -> None: ...
