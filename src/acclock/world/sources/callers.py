"""Devices that call us: who may, and where we listen."""

import hmac
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import parse_qs, urlsplit

from acclock.errors import ConfigError


def may_call(path: str, *, token: str | None, authorization: str = "") -> bool:
    """Tell whether a caller brought the token, in the address or as a bearer's.

    >>> may_call("/?token=a", token="a"), may_call("/", token="a"), may_call("/", token=None)
    (True, False, True)
    """
    if token is None:
        return True
    given = parse_qs(urlsplit(path).query).get("token", [""])[0]
    given = given or authorization.removeprefix("Bearer ")
    return hmac.compare_digest(given.encode(), token.encode())


@contextmanager
def saying_where(host: str, port: int) -> Iterator[None]:
    """Turn a port that cannot be had into a sentence."""
    try:
        yield
    except OSError as error:
        raise ConfigError(f"cannot listen on {host}:{port}: {error.strerror or error}") from None
