"""Commands that need more than the runtime, and say so when it is not there."""

from collections.abc import Iterator
from contextlib import contextmanager

from acclock.errors import MissingExtraError


@contextmanager
def needing(extra: str) -> Iterator[None]:
    """Turn an import that fails for want of a package into a sentence that says what to install."""
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "a package").partition(".")[0]
        if package == "acclock":
            raise
        raise MissingExtraError(package=package, extra=extra) from error
