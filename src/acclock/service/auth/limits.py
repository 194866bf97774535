"""How often something may be done, counted over all replicas."""

import time

from sqlalchemy import bindparam, delete, text

from acclock.service.refusals import RefusedError
from acclock.service.store import ServiceStore, rates

_MINUTE_S = 60
_COUNT = text(
    "INSERT INTO acclock_rates (bucket, minute, count) VALUES (:bucket, :minute, 1) "
    "ON CONFLICT (bucket, minute) DO UPDATE SET count = acclock_rates.count + 1 RETURNING count"
)
_READ = text("SELECT count FROM acclock_rates WHERE bucket = :bucket AND minute = :minute")


def count(store: ServiceStore, what: str, who: str, *, most: int) -> None:
    """Count one more of something by somebody, and refuse beyond so many a minute."""
    now = time.time()
    place = {"bucket": f"{what}:{who}"[:96], "minute": int(now // _MINUTE_S)}
    with store.writing() as connection:
        so_far = connection.execute(_COUNT, place).scalar_one()
    if so_far > most:
        _refuse(now)


def check(store: ServiceStore, what: str, who: str, *, most: int) -> None:
    """Refuse somebody who has done something too often, without counting."""
    now = time.time()
    place = {"bucket": f"{what}:{who}"[:96], "minute": int(now // _MINUTE_S)}
    with store.reading() as connection:
        so_far = connection.execute(_READ, place).scalar()
    if so_far is not None and so_far >= most:
        _refuse(now)


def forget_old(store: ServiceStore) -> None:
    """Drop the counts of minutes that are over."""
    with store.writing() as connection:
        old = delete(rates).where(rates.c.minute < bindparam("now"))
        connection.execute(old, {"now": int(time.time() // _MINUTE_S) - 1})


def _refuse(now: float) -> None:
    wait_s = _MINUTE_S - now % _MINUTE_S
    raise RefusedError(
        429, "too_often", f"this was asked too often; wait {wait_s:.0f} s", wait_s=wait_s
    )
