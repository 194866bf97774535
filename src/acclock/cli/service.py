"""``acclock serve`` and ``token``: the service, for many wearers, and who may call it."""

import sys
from datetime import UTC, datetime
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from acclock.cli.show import JsonFlag, show
from acclock.cli.vault import Database, VaultFolder, open_vault
from acclock.system.settings import home_folder, own_models

if TYPE_CHECKING:
    from acclock.service.config import ServiceConfig


class SessionEntry(StrEnum):
    """What opens a session: another factor, or the heartbeat alone."""

    GRANT = "grant"
    HEARTBEAT = "heartbeat"


class ServiceEngine(StrEnum):
    """Where it runs: in processes of this machine, or on a Ray cluster."""

    LOCAL = "local"
    RAY = "ray"


Host = Annotated[str, typer.Option(help="Address to listen on.")]
Port = Annotated[int, typer.Option(help="Port to listen on; 0 is any free one.")]
Workers = Annotated[int, typer.Option(help="Processes, or replicas on a cluster.")]
PolicyName = Annotated[str, typer.Option(help="strict, balanced or comfortable.")]
EntryName = Annotated[SessionEntry, typer.Option(help="What opens a session.")]
Certificate = Annotated[Path | None, typer.Option("--tls-cert", help="Certificate, PEM.")]
CertificateKey = Annotated[Path | None, typer.Option("--tls-key", help="Its key, PEM.")]
Insecure = Annotated[bool, typer.Option(help="Listen beyond this machine without TLS.")]
Origins = Annotated[list[str] | None, typer.Option("--origin", help="Other web origins.")]
Names = Annotated[
    list[str] | None, typer.Option("--allowed-host", help="Another name that callers may use.")
]
Streams = Annotated[int, typer.Option("--most-streams", help="Streams of one process.")]
PerToken = Annotated[int, typer.Option(help="Long connections of one token, at one process.")]
PerAddress = Annotated[int, typer.Option(help="Long connections of one address, at one process.")]
Proxies = Annotated[
    list[str] | None, typer.Option("--trusted-proxy", help="Proxy whose X-Forwarded-For counts.")
]
EngineName = Annotated[ServiceEngine, typer.Option("--engine", help="Where it runs.")]
Models = Annotated[
    list[str] | None,
    typer.Option("--model", help="What enrolls; give many. Else ACCLOCK_MODEL, else the shipped."),
]
Address = Annotated[str | None, typer.Option(help="Of a Ray cluster: host:port, or auto.")]


def serve(
    *,
    host: Host = "127.0.0.1",
    port: Port = 8377,
    workers: Workers = 1,
    policy: PolicyName = "balanced",
    entry: EntryName = SessionEntry.GRANT,
    tls_cert: Certificate = None,
    tls_key: CertificateKey = None,
    insecure: Insecure = False,
    origin: Origins = None,
    allowed_host: Names = None,
    trusted_proxy: Proxies = None,
    most_streams: Streams = 400,
    connections_per_token: PerToken = 16,
    connections_per_address: PerAddress = 200,
    model: Models = None,
    vault: VaultFolder = None,
    database: Database = None,
    engine: EngineName = ServiceEngine.LOCAL,
    address: Address = None,
) -> None:
    """Serve the API and the dashboard. The first start tells an operator's token."""
    # the server, the database and the model's runtime, which only this command needs together
    from acclock.models.files import find_model
    from acclock.service.config import ServiceConfig
    from acclock.service.serving import listen
    from acclock.service.serving import serve as serve_on

    config = ServiceConfig(
        folder=vault or home_folder(),
        database=database,
        models=tuple(model or own_models()),
        known_models=own_models(),
        host=host,
        port=port,
        workers=workers,
        policy=policy,
        entry=entry.value,
        certificate=tls_cert,
        certificate_key=tls_key,
        insecure=insecure,
        origins=tuple(origin or ()),
        allowed_hosts=tuple(allowed_host or ()),
        trusted_proxies=tuple(trusted_proxy or ()),
        most_streams=most_streams,
        connections_per_token=connections_per_token,
        connections_per_address=connections_per_address,
    )
    for name in (*config.models, *config.known_models):
        find_model(name)  # before anything is said to be served
    if engine is ServiceEngine.RAY:
        _serve_on_cluster(config, address)
        return
    sockets = listen(config)
    _name_dropped_tokens(config)
    _show_first_token(config)
    print(_describe_address(config, sockets[0].getsockname()[1]), flush=True)
    serve_on(config, sockets)


def _serve_on_cluster(config: "ServiceConfig", address: str | None) -> None:
    from acclock.service.clustered import check_for_cluster, serve_on_cluster  # as above

    check_for_cluster(config)
    _name_dropped_tokens(config)
    _show_first_token(config)
    told = partial(print, _describe_address(config, config.port), file=sys.stdout, flush=True)
    serve_on_cluster(config, address=address, on_ready=told)


def _name_dropped_tokens(config: "ServiceConfig") -> None:
    from acclock.service.auth.starting import drop_old_tokens  # as above

    for token in drop_old_tokens(config):
        about = f" ({token.note})" if token.note else ""
        print(
            f"the {token.role} token {token.token}{about} was not made with this vault's key, as "
            "those of an older AccLock, and no longer counts: make it again by `acclock token`",
            file=sys.stderr,
        )


def _show_first_token(config: "ServiceConfig") -> None:
    from acclock.service.auth.starting import first_token, keep_first_token  # as above

    if (secret := first_token(config)) is None:
        print("there is an operator token; `acclock token create operator` makes another")
    elif sys.stdout.isatty():
        print(f"operator token, shown this once: {secret}", flush=True)
    else:  # whatever reads this may keep it, as a journal does
        path = keep_first_token(config, secret)
        print(f"operator token, in a file that only its owner can read: {path}", flush=True)


def _describe_address(config: "ServiceConfig", port: int) -> str:
    return f"serving on {'https' if config.secure else 'http'}://{config.host}:{port}"


class TokenAction(StrEnum):
    """What to do with tokens."""

    CREATE = "create"
    LIST = "list"
    REVOKE = "revoke"


What = Annotated[TokenAction, typer.Argument(help="create, list or revoke.")]
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
    from acclock.service.auth.starting import open_tokens

    with open_tokens(open_vault(vault, database)) as tokens:
        match what:
            case TokenAction.CREATE:
                secret, made = tokens.create(
                    which, lasting=lasting, person=person, may_grant=may_grant, note=note
                )
                facts = {"secret": secret, "token": made.token, "expires": _date(made.expires)}
                show(facts, as_json=as_json, title="Shown this once:" if not as_json else None)
            case TokenAction.LIST:
                for one in tokens.list():
                    show(one | {"expires": _date(one["expires"])}, as_json=as_json)
            case TokenAction.REVOKE:
                tokens.revoke(which)
                show({"revoked": which}, as_json=as_json)


def _date(seconds: object) -> str:
    return datetime.fromtimestamp(float(str(seconds)), UTC).isoformat(timespec="seconds")
