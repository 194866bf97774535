"""By which names the service may be called: what ``Host`` may say."""

import re
import socket
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509

from acclock.errors import ConfigError
from acclock.world.service.config import ServiceConfig

_HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(:\d{1,5})?")


def find_host_names(config: ServiceConfig) -> frozenset[str]:
    """Give the names of a service: those that were allowed, its own and its certificate's."""
    own = ("localhost", config.host, socket.gethostname())
    certified = () if config.certificate is None else _read_names(config.certificate)
    return frozenset(name.lower() for name in (*config.allowed_hosts, *own, *certified))


def is_allowed(host: str, names: frozenset[str]) -> bool:
    """Tell whether a ``Host`` is an address or one of the names; ``*.`` stands for one label.

    A page whose name its owner has pointed at this machine calls us by that name, as if it were
    our own page. An address in numbers cannot be pointed elsewhere.

    >>> names = frozenset({"localhost", "*.example.org"})
    >>> [is_allowed(host, names) for host in ("LOCALHOST:80", "[::1]", "a.example.org", "evil.io")]
    [True, True, True, False]
    """
    found = _HOST.fullmatch(host)
    if found is None:
        return False
    name = found[1].strip("[]").lower().removesuffix(".")
    return is_address(name) or name in names or f"*.{name.partition('.')[2]}" in names


def is_address(name: str) -> bool:
    """Tell whether a name is an address in numbers."""
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def _read_names(certificate: Path) -> list[str]:
    try:
        own, *_ = x509.load_pem_x509_certificates(certificate.read_bytes())
        names = own.extensions.get_extension_for_class(x509.SubjectAlternativeName)
    except x509.ExtensionNotFound:
        return []
    except ValueError as error:
        raise ConfigError(f"the names in {certificate} cannot be read: {error}") from error
    return names.value.get_values_for_type(x509.DNSName)
