"""Every refusal of AccLock, as one tree. ``str(error)`` is a sentence fit for a user."""


class AccLockError(Exception):
    """Something was found that AccLock cannot work with; the message says what was needed."""


class ConfigError(AccLockError):
    """A setting lies outside what makes sense."""


class UnreadableError(AccLockError):
    """A file or its content is not a recording that AccLock understands."""


class UnwritableError(AccLockError):
    """A result cannot be stored where it was asked to go."""


class SignalError(AccLockError):
    """The samples cannot be used: not finite, constant, of the wrong shape or rate."""


class TooShortError(SignalError):
    """The recording ends before the work can begin."""

    def __init__(self, *, have_s: float, need_s: float) -> None:
        super().__init__(f"the recording lasts {have_s:.1f} s; this needs at least {need_s:.1f} s")
        self.have_s = have_s
        self.need_s = need_s


class MissingExtraError(AccLockError):
    """A part of AccLock needs a package that is not installed."""

    def __init__(self, *, package: str, extra: str) -> None:
        super().__init__(
            f"this needs {package}, which is not installed: `pip install acclock[{extra}]`"
        )
        self.package = package
        self.extra = extra


class ClusterError(AccLockError):
    """A Ray cluster cannot be joined, or does not do what it was given."""


class ModelError(AccLockError):
    """A model is damaged, of another format, or made for other windows than these."""


class TooFewError(AccLockError):
    """There is less of something than the work needs."""

    def __init__(self, *, what: str, have: int, need: int) -> None:
        super().__init__(f"there are {have} {what}; this needs at least {need}")
        self.have = have
        self.need = need


class EnrollmentError(AccLockError):
    """The windows cannot make, or be added to, one person's template."""


class VaultError(AccLockError):
    """The vault cannot do what was asked; nothing was changed."""


class NameRefusedError(VaultError):
    """A name is empty, too long, hostile or taken, or nobody has it."""


class DamagedVaultError(VaultError):
    """What the vault holds is not what was put into it: damaged, swapped, cut short."""


class FullDiskError(VaultError):
    """The disk holds no more; nothing was changed."""


class SinkError(AccLockError):
    """An output cannot be opened, or did not take what it was told."""


class GrantError(AccLockError):
    """A grant or an assertion is not one that opens anything."""


class MonitorError(AccLockError):
    """A session cannot be watched over any longer; it is locked."""


class TaskFailedError(AccLockError):
    """A background task failed too often in a row; what depends on it is locked."""

    def __init__(self, name: str, failures: int, how: str) -> None:
        super().__init__(
            f"the task {name} ended {failures} times in a row and is given up, everything is "
            f"locked; at last it {how}"
        )
