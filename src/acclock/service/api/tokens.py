"""Tokens: who may call."""

from dataclasses import asdict

from fastapi import APIRouter

from acclock.service.api.people import find
from acclock.service.api.shapes import NewToken, TokenRequest, Tokens, TokenShape
from acclock.service.auth.access import Called, Serving
from acclock.service.auth.tokens import Token, create_token, list_tokens, revoke_token

router = APIRouter(prefix="/v1/tokens", tags=["tokens"])


@router.get("")
def list_all(caller: Called, service: Serving) -> Tokens:
    """All tokens, without their secrets, which nobody has but their owners."""
    caller.require()
    names = {person.person: person.name for person in service.recognizer.vault.people()}
    shown = [_show(token, names) for token in list_tokens(service.store)]
    return Tokens(tokens=[TokenShape.model_validate(one) for one in shown])


@router.post("", status_code=201)
def create(caller: Called, service: Serving, wanted: TokenRequest) -> NewToken:
    """Make a token. Its secret is in this answer and nowhere else."""
    caller.require()
    person = find(service, wanted.person) if wanted.person is not None else None
    secret, made = create_token(
        service.store,
        wanted.role,
        duration_s=wanted.duration_s,
        person=person.person if person else None,
        may_grant=wanted.may_grant,
        note=wanted.note,
    )
    names = {person.person: person.name} if person else {}
    return NewToken.model_validate({"secret": secret} | _show(made, names))


@router.delete("/{token}", status_code=204)
def revoke(caller: Called, service: Serving, token: str) -> None:
    """Make a token worthless. Streams that it opened end within a second."""
    caller.require()
    revoke_token(service.store, token)


def _show(token: Token, names: dict[str, str]) -> dict[str, object]:
    return asdict(token) | {"person": names.get(token.person or "")}
