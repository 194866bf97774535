"""``acclock accept-state``: a vault whose count of events is gone opens again."""

from acclock.cli.confirming import Yes, confirm
from acclock.cli.show import JsonFlag, show
from acclock.cli.vaults import Database, VaultFolder
from acclock.world.settings import home_folder


def accept_state(
    *,
    yes: Yes = False,
    vault: VaultFolder = None,
    database: Database = None,
    as_json: JsonFlag = False,
) -> None:
    """Accept a vault without its file vault.head as it is now, once; the log keeps that.

    Do it only when you know that nobody put an older copy in its place: people who were removed
    since would be back. A replica is better given the vault.head of another.
    """
    # loads the database, which only commands about people should wait for
    from acclock.world.vault.opening import accept_state as accept

    folder = vault or home_folder()
    confirm(f"Accept the vault at {folder} as it is, not knowing whether it is older?", yes=yes)
    with accept(folder, url=database) as opened:
        show({"accepted": True, "people": len(opened.people())}, as_json=as_json)
