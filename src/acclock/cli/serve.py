"""``acclock serve``: the service, for many wearers."""

import sys
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from acclock.cli.vaults import Database, VaultFolder
from acclock.world.settings import home_folder, own_models

if TYPE_CHECKING:
    from acclock.world.service.config import ServiceConfig


class Entry(StrEnum):
    """What opens a session: another factor, or the heartbeat alone."""

    GRANT = "grant"
    HEARTBEAT = "heartbeat"


class EngineKind(StrEnum):
    """Where it runs: in processes of this machine, or on a Ray cluster."""

    LOCAL = "local"
    RAY = "ray"


Host = Annotated[str, typer.Option(help="Address to listen on.")]
Port = Annotated[int, typer.Option(help="Port to listen on; 0 is any free one.")]
Workers = Annotated[int, typer.Option(help="Processes, or replicas on a cluster.")]
PolicyName = Annotated[str, typer.Option(help="strict, balanced or comfortable.")]
EntryName = Annotated[Entry, typer.Option(help="What opens a session.")]
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
EngineName = Annotated[EngineKind, typer.Option("--engine", help="Where it runs.")]
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
    entry: EntryName = Entry.GRANT,
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
    engine: EngineName = EngineKind.LOCAL,
    address: Address = None,
) -> None:
    """Serve the API and the dashboard. The first start tells an operator's token."""
    # the server, the database and the model's runtime, which only this command needs together
    from acclock.world.models.files import find_model
    from acclock.world.service.config import ServiceConfig
    from acclock.world.service.serving import listen
    from acclock.world.service.serving import serve as serve_on

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
    if engine is EngineKind.RAY:
        _serve_on_cluster(config, address)
        return
    sockets = listen(config)
    _name_dropped_tokens(config)
    _show_first_token(config)
    print(_tell_where(config, sockets[0].getsockname()[1]), flush=True)
    serve_on(config, sockets)


def _serve_on_cluster(config: "ServiceConfig", address: str | None) -> None:
    from acclock.world.service.clustered import check_for_cluster, serve_on_cluster  # as above

    check_for_cluster(config)
    _name_dropped_tokens(config)
    _show_first_token(config)
    told = partial(print, _tell_where(config, config.port), file=sys.stdout, flush=True)
    serve_on_cluster(config, address=address, on_ready=told)


def _name_dropped_tokens(config: "ServiceConfig") -> None:
    from acclock.world.service.starting import drop_old_tokens  # as above

    for token in drop_old_tokens(config):
        about = f" ({token.note})" if token.note else ""
        print(
            f"the {token.role} token {token.token}{about} was not made with this vault's key, as "
            "those of an older AccLock, and no longer counts: make it again by `acclock token`",
            file=sys.stderr,
        )


def _show_first_token(config: "ServiceConfig") -> None:
    from acclock.world.service.starting import first_token, keep_first_token  # as above

    if (secret := first_token(config)) is None:
        print("there is an operator token; `acclock token create operator` makes another")
    elif sys.stdout.isatty():
        print(f"operator token, shown this once: {secret}", flush=True)
    else:  # whatever reads this may keep it, as a journal does
        path = keep_first_token(config, secret)
        print(f"operator token, in a file that only its owner can read: {path}", flush=True)


def _tell_where(config: "ServiceConfig", port: int) -> str:
    return f"serving on {'https' if config.secure else 'http'}://{config.host}:{port}"
