"""How the service listens, what it allows and how much it takes on."""

import os
import re
import ssl
from dataclasses import dataclass, field
from ipaddress import ip_address, ip_network
from pathlib import Path

from acclock.errors import ConfigError
from acclock.live.policies import Entry, Policy, policy_named

_MOST_WORKERS = 64
_NAME = re.compile(r"(\*\.)?[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*")
_ASKING = 1000
"""Connections of one process beside its streams."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceConfig:
    """Everything that ``acclock serve`` can be told. The defaults need no configuration."""

    folder: Path
    """Of the vault: its key and, without another database, the database."""
    database: str | None = None
    models: tuple[str, ...] = ()
    """Names or files of models that enroll; without any the shipped ones do. Either way everybody
    is recognized by the model that they were enrolled with."""
    known_models: tuple[str, ...] = ()
    """Names or files of further models, which only recognize."""
    host: str = "127.0.0.1"
    port: int = 8377
    workers: int = 1
    """Processes; streams are dealt out among them."""
    policy: str = "balanced"
    entry: Entry = "grant"
    """What opens a session: another factor, or the heartbeat alone."""
    certificate: Path | None = None
    certificate_key: Path | None = None
    insecure: bool = False
    """Whether to listen beyond this machine without TLS, as behind a proxy that has it."""
    origins: tuple[str, ...] = ()
    """Other web origins whose pages may call, such as ``https://dashboard.example``."""
    allowed_hosts: tuple[str, ...] = ()
    """Names by which it may be called beside its own, such as ``acclock.example``."""
    most_streams: int = 400
    """Streams of one process; further ones are told to come back later."""
    connections_per_token: int = 16
    """Streams, event streams and uploads that one token may have open at one process."""
    connections_per_address: int = 200
    """The same of one address, and as many short requests and idle connections."""
    trusted_proxies: tuple[str, ...] = ()
    """Proxies, as addresses or networks, that are believed about whose call they forward."""
    most_upload_bytes: int = 32 * 1024 * 1024
    verifications_per_minute: int = 10
    """Of one token, over all replicas: what may be asked is also what may be guessed."""
    streams_per_minute: int = 60
    questions_per_minute: int = 600
    failures_per_minute: int = 30
    """Wrong tokens from one address, over all replicas."""
    batch: int = 16
    """Windows that are embedded together, at most."""
    replica: str = field(default_factory=lambda: os.urandom(8).hex())
    """A random name of this process."""

    def __post_init__(self) -> None:
        if not 0 <= self.port <= 65535:
            raise ConfigError(f"a port is a number from 0 to 65535, not {self.port}")
        if not 1 <= self.workers <= _MOST_WORKERS:
            raise ConfigError(f"there are 1 to {_MOST_WORKERS} workers, not {self.workers}")
        if (self.certificate is None) != (self.certificate_key is None):
            raise ConfigError("TLS needs both a certificate and its key")
        _check_certificate(self.certificate, self.certificate_key)
        if not self.secure and not is_loopback(self.host) and not self.insecure:
            raise ConfigError(
                f"listening on {self.host} without TLS would send tokens in the clear: give a "
                "certificate with its key, or --insecure behind a proxy that has TLS"
            )
        if min(self.most_streams, self.batch, self.most_upload_bytes) < 1:
            raise ConfigError("the service must take at least one stream, window and byte")
        if min(self.connections_per_token, self.connections_per_address) < 1:
            raise ConfigError("a token and an address may hold at least one connection each")
        _check_proxies(self.trusted_proxies)
        _check_names(self.allowed_hosts)
        _ = self.rules

    @property
    def secure(self) -> bool:
        return self.certificate is not None

    @property
    def most_connections(self) -> int:
        """Connections of one process; beyond, those who ask for nothing are closed."""
        return self.most_streams + _ASKING

    @property
    def rules(self) -> Policy:
        """The policy with its entry."""
        return policy_named(self.policy).opened_by(self.entry)


def _check_names(names: tuple[str, ...]) -> None:
    for name in names:
        if not _NAME.fullmatch(name):
            raise ConfigError(
                f"an allowed host is a name, as acclock.example or *.example, not {name!r}"
            )


def _check_proxies(proxies: tuple[str, ...]) -> None:
    for proxy in proxies:
        try:
            ip_network(proxy)
        except ValueError:
            raise ConfigError(
                f"a proxy is named by its address, as 127.0.0.1 or 10.0.0.0/8, not {proxy!r}"
            ) from None


def _check_certificate(certificate: Path | None, key: Path | None) -> None:
    """Refuse a certificate that could not be shown, before anything is opened."""
    if certificate is None:
        return
    try:
        ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(
            certificate, key, password=_no_password
        )
    except ssl.SSLError as error:
        fault = error.reason or "it is not PEM"
        raise ConfigError(f"{certificate} with {key} is no certificate and key: {fault}") from None
    except OSError as error:
        raise ConfigError(f"cannot read {certificate} or {key}: {error.strerror}") from None


def _no_password() -> str:
    raise ConfigError("the key of the certificate has a password; the service needs one without")


def is_loopback(host: str) -> bool:
    """Tell whether only this machine can call an address.

    >>> is_loopback("localhost"), is_loopback("::1"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
