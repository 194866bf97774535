from acclock.values import FloatArray

def parse(
    text: bytes, offset: int, delimiter: bytes, columns: tuple[int, ...], out: FloatArray, /
) -> int: ...
