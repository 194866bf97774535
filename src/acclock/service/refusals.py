"""How the service says no: one shape, a code for programs and a sentence for people."""

from collections.abc import Mapping

from starlette.responses import JSONResponse

from acclock.errors import (
    AccLockError,
    ConfigError,
    DamagedVaultError,
    EnrollmentError,
    FullDiskError,
    ModelError,
    NameRefusedError,
    SignalError,
    TooFewError,
    UnreadableError,
    VaultError,
)

_STATUS: Mapping[type[AccLockError], tuple[int, str]] = {
    NameRefusedError: (422, "name_refused"),
    DamagedVaultError: (503, "vault_damaged"),
    FullDiskError: (507, "disk_full"),
    VaultError: (503, "vault_unavailable"),
    UnreadableError: (422, "unreadable"),
    TooFewError: (422, "too_few"),
    SignalError: (422, "bad_signal"),
    EnrollmentError: (422, "not_one_person"),
    ModelError: (409, "other_model"),
    ConfigError: (422, "bad_setting"),
}


class RefusedError(AccLockError):
    """The service does not do what was asked."""

    def __init__(
        self, status: int, code: str, sentence: str, *, wait_s: float | None = None
    ) -> None:
        super().__init__(sentence)
        self.status, self.code, self.wait_s = status, code, wait_s


def as_refusal(error: AccLockError) -> RefusedError:
    """Give any refusal of AccLock as one with a status and a code.

    >>> as_refusal(UnreadableError("this is no recording")).code
    'unreadable'
    """
    if isinstance(error, RefusedError):
        return error
    kinds = (_STATUS[kind] for kind in type(error).__mro__ if kind in _STATUS)
    status, code = next(kinds, (422, "refused"))
    return RefusedError(status, code, str(error))


def as_body(refusal: RefusedError) -> dict[str, object]:
    """Give the one shape in which errors leave."""
    return {"error": {"code": refusal.code, "sentence": str(refusal)}}


def as_response(refusal: RefusedError, *, headers: Mapping[str, str] | None = None) -> JSONResponse:
    """Give a refusal as an answer to a request."""
    told = dict(headers or {})
    if refusal.status == 401:
        told["WWW-Authenticate"] = "Bearer"
    if refusal.wait_s is not None:
        told["Retry-After"] = str(max(1, round(refusal.wait_s)))
    return JSONResponse(as_body(refusal), status_code=refusal.status, headers=told)
