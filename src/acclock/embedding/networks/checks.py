"""What every size of a network must be."""

from acclock.errors import ConfigError


def require_positive(**sizes: int) -> None:
    """Refuse a size below one, by its name."""
    for name, size in sizes.items():
        if size < 1:
            raise ConfigError(f"{name} must be at least 1, not {size}")


def require_shared(width: int, heads: int) -> None:
    """Refuse a width that does not fall to so many heads in equal parts."""
    if width < 1 or width % heads:
        raise ConfigError(f"a width of {width} cannot be shared out among {heads} heads")
