"""``acclock serve``: the service, for many wearers."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from acclock.cli.vaults import Database, Model, VaultFolder
from acclock.world.settings import home_folder


class Entry(StrEnum):
    """What opens a session: another factor, or the heartbeat alone."""

    GRANT = "grant"
    HEARTBEAT = "heartbeat"


Host = Annotated[str, typer.Option(help="Address to listen on.")]
Port = Annotated[int, typer.Option(help="Port to listen on; 0 is any free one.")]
Workers = Annotated[int, typer.Option(help="Processes; one for each core.")]
PolicyName = Annotated[str, typer.Option(help="strict, balanced or comfortable.")]
EntryName = Annotated[Entry, typer.Option(help="What opens a session.")]
Certificate = Annotated[Path | None, typer.Option("--tls-cert", help="Certificate, PEM.")]
CertificateKey = Annotated[Path | None, typer.Option("--tls-key", help="Its key, PEM.")]
Insecure = Annotated[bool, typer.Option(help="Listen beyond this machine without TLS.")]
Origins = Annotated[list[str] | None, typer.Option("--origin", help="Other web origins.")]
Streams = Annotated[int, typer.Option("--most-streams", help="Streams of one process.")]


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
    most_streams: Streams = 400,
    model: Model = "default",
    vault: VaultFolder = None,
    database: Database = None,
) -> None:
    """Serve the API and the dashboard. The first start prints an operator's token."""
    # the server, the database and the model's runtime, which only this command needs together
    from acclock.world.service.config import ServiceConfig
    from acclock.world.service.serving import listen
    from acclock.world.service.serving import serve as serve_on
    from acclock.world.service.starting import first_token

    config = ServiceConfig(
        folder=vault or home_folder(),
        database=database,
        model=model,
        host=host,
        port=port,
        workers=workers,
        policy=policy,
        entry=entry.value,
        certificate=tls_cert,
        certificate_key=tls_key,
        insecure=insecure,
        origins=tuple(origin or ()),
        most_streams=most_streams,
    )
    sockets = listen(config)
    if (secret := first_token(config)) is not None:
        print(f"operator token, shown this once: {secret}")
    scheme = "https" if config.secure else "http"
    print(f"serving on {scheme}://{host}:{sockets[0].getsockname()[1]}", flush=True)
    serve_on(config, sockets)
