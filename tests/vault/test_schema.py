from typing import TYPE_CHECKING

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import inspect, text

from acclock.errors import ConfigError, MissingExtraError, VaultError
from acclock.service.auth.tokens import create_token, drop_invalid_tokens, list_tokens
from acclock.service.store import ServiceStore
from acclock.service.store import metadata as service_metadata
from acclock.vault import database
from acclock.vault.database import connect, make_file, reading, writing
from acclock.vault.opening import check
from acclock.vault.schema import NEWEST, metadata, run_migrations, upgrade

if TYPE_CHECKING:
    from tests.vault.conftest import Hearts, Place


def test_the_migrations_make_the_tables_that_the_code_knows(place: "Place") -> None:
    with place.open() as vault, reading(vault.engine) as connection:
        context = MigrationContext.configure(connection, opts={"version_table": "acclock_schema"})

        both = [metadata, service_metadata]
        assert compare_metadata(context, both) == []  # type: ignore[arg-type]  # it takes several
        assert context.get_current_revision() == NEWEST


def test_an_older_vault_keeps_its_people(place: "Place", hearts: "Hearts") -> None:
    with place.open() as vault:
        vault.add("ada", hearts.template())
        with writing(vault.engine) as connection:
            connection.execute(text("DROP TABLE acclock_recordings"))
            service_metadata.drop_all(connection)
            connection.execute(text("UPDATE acclock_schema SET version_num = '0001'"))

    with place.open() as vault:
        vault.add("bob", hearts.template(), keep=[hearts.recording()])
        assert check(vault).people == 2


def test_a_vault_without_the_services_tables_gets_them(place: "Place", hearts: "Hearts") -> None:
    with place.open() as vault:
        vault.add("ada", hearts.template())
        with writing(vault.engine) as connection:
            service_metadata.drop_all(connection)
            connection.execute(text("UPDATE acclock_schema SET version_num = '0002'"))

    with place.open() as vault:
        create_token(ServiceStore(vault), "viewer", duration_s=600)
        assert check(vault).people == 1


def test_tables_that_a_service_made_itself_keep_their_tokens_to_be_named(place: "Place") -> None:
    with place.open() as vault:
        _, made = create_token(ServiceStore(vault), "viewer", duration_s=600, note="hall")
        with writing(vault.engine) as connection:
            for table in ("tokens", "replicas", "streams", "happenings", "orders"):
                connection.execute(text(f"ALTER TABLE acclock_{table} DROP COLUMN mac"))
            connection.execute(text("ALTER TABLE acclock_replicas DROP COLUMN sessions"))
            connection.execute(text("CREATE TABLE acclock_service (format INTEGER PRIMARY KEY)"))
            connection.execute(text("INSERT INTO acclock_service VALUES (1)"))
            connection.execute(text("UPDATE acclock_schema SET version_num = '0002'"))

    with place.open() as vault:
        store = ServiceStore(vault)
        assert list_tokens(store) == []
        assert drop_invalid_tokens(store) == [made]
        assert drop_invalid_tokens(store) == []
        assert [event.note for event in vault.events() if event.kind == "token dropped"] == [
            made.token
        ]
        with reading(vault.engine) as connection:
            assert not inspect(connection).has_table("acclock_service")


def test_a_newer_vault_is_refused(place: "Place") -> None:
    with place.open() as vault, writing(vault.engine) as connection:
        connection.execute(text("UPDATE acclock_schema SET version_num = '9999'"))

    with pytest.raises(VaultError, match="written by a newer AccLock"):
        place.open()


def test_a_migration_that_fails_leaves_no_table_behind(files: "Place") -> None:
    files.folder.mkdir()
    engine = connect(f"sqlite:///{files.folder / 'vault.db'}")
    make_file(engine)

    def fail() -> None:
        with writing(engine) as connection:
            run_migrations(connection, NEWEST)
            raise InterruptedError

    with pytest.raises(InterruptedError):
        fail()

    with reading(engine) as connection:
        tables = connection.execute(text("SELECT name FROM sqlite_master")).all()
    assert tables == []
    upgrade(engine)
    engine.dispose()


@pytest.mark.parametrize("url", ["", "rubbish", "mysql://localhost/x", "sqlite://"])
def test_another_database_is_refused(url: str) -> None:
    with pytest.raises(ConfigError, match="sqlite:///path or postgresql"):
        connect(url)


def test_postgresql_without_its_driver_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "find_spec", lambda _: None)

    with pytest.raises(MissingExtraError, match=r"acclock\[postgres\]"):
        connect("postgresql://localhost/x")


def test_a_password_is_in_no_sentence(files: "Place") -> None:
    place = type(files)(folder=files.folder, url="postgresql://u:geheim@127.0.0.1:9/x")

    with pytest.raises(VaultError, match="cannot be reached") as refusal:
        place.open()
    assert "geheim" not in str(refusal.value)
