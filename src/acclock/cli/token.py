"""``acclock token``: who may call the service."""

from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated

import typer

from acclock.cli.show import JsonFlag, show
from acclock.cli.vaults import Database, VaultFolder, open_vault


class Act(StrEnum):
    """What to do with tokens."""

    CREATE = "create"
    LIST = "list"
    REVOKE = "revoke"


What = Annotated[Act, typer.Argument(help="create, list or revoke.")]
Which = Annotated[
    str,
    typer.Argument(help="A role (device, viewer, operator, relying-party), or a token's number."),
]
PersonName = Annotated[str | None, typer.Option("--person", help="Whom it is about.")]
Lasting = Annotated[str, typer.Option("--for", help="How long it is good: 90m, 12h, 30d.")]
MayGrant = Annotated[bool, typer.Option(help="A relying party that may open sessions.")]
Note = Annotated[str, typer.Option(help="What it is for.")]


def token(
    what: What,
    which: Which = "",
    *,
    person: PersonName = None,
    lasting: Lasting = "30d",
    may_grant: MayGrant = False,
    note: Note = "",
    vault: VaultFolder = None,
    database: Database = None,
    as_json: JsonFlag = False,
) -> None:
    """Create, list or revoke the tokens by which the service knows who calls.

    ``acclock token create device --person anna --for 30d`` prints a secret once.
    """
    # the database takes half a second to load; --help should not wait for it
    from acclock.world.service.starting import open_tokens

    with open_tokens(open_vault(vault, database)) as tokens:
        match what:
            case Act.CREATE:
                secret, made = tokens.create(
                    which, lasting=lasting, person=person, may_grant=may_grant, note=note
                )
                facts = {"secret": secret, "token": made.token, "expires": _date(made.expires)}
                show(facts, as_json=as_json, title="Shown this once:" if not as_json else None)
            case Act.LIST:
                for one in tokens.list():
                    show(one | {"expires": _date(one["expires"])}, as_json=as_json)
            case Act.REVOKE:
                tokens.revoke(which)
                show({"revoked": which}, as_json=as_json)


def _date(seconds: object) -> str:
    return datetime.fromtimestamp(float(str(seconds)), UTC).isoformat(timespec="seconds")
