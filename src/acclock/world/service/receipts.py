"""What was done under a key of the client's, so that asking again does not do it twice."""

import hashlib
import time
from typing import NamedTuple

from sqlalchemy import insert, select, update
from sqlalchemy.exc import IntegrityError

from acclock.world.service.refusals import RefusedError
from acclock.world.service.store import Store
from acclock.world.service.tables import receipts


class Receipt(NamedTuple):
    """What is known of something that was asked for under a key."""

    key: str
    """The digest of the key."""
    result: str | None
    """What came of it; nothing while it is being done, or when a crash ended that."""
    first: bool
    """Whether it was never asked for before."""


def begin(store: Store, token: str, key: str, request: bytes) -> Receipt:
    """Note that something is being asked for; give what came of it before, if it was."""
    digest = hashlib.sha256(f"{token}\n{key}".encode()).hexdigest()
    asked = hashlib.sha256(request).hexdigest()
    row = {"key": digest, "request": asked, "result": None, "at": time.time()}
    with store.writing() as connection:
        found = connection.execute(select(receipts).where(receipts.c.key == digest)).first()
        if found is None:
            try:
                connection.execute(insert(receipts), row)
            except IntegrityError:
                raise RefusedError(409, "at_work", "the same is being asked just now") from None
            return Receipt(digest, None, first=True)
    if found.request != asked:
        raise RefusedError(409, "key_reused", "this idempotency key was used for something else")
    return Receipt(digest, found.result, first=False)


def finish(store: Store, receipt: Receipt, result: str) -> None:
    """Note what came of it."""
    with store.writing() as connection:
        connection.execute(
            update(receipts).where(receipts.c.key == receipt.key).values(result=result)
        )


def cancel(store: Store, receipt: Receipt) -> None:
    """Forget that it was asked: nothing came of it."""
    with store.writing() as connection:
        connection.execute(receipts.delete().where(receipts.c.key == receipt.key))
