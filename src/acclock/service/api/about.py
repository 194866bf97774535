"""The service itself: health, readiness, metrics, policies and the audit log."""

from dataclasses import asdict
from importlib.metadata import version
from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import JSONResponse, PlainTextResponse

from acclock.live.policies import POLICIES, Policy
from acclock.service.api.shapes import Audit, AuditEvent, Health, Policies, PolicyShape
from acclock.service.auth.access import Called, Serving
from acclock.service.service import Service

router = APIRouter(tags=["service"])

_NAMED = ("name", "entry")


@router.get("/v1/health")
async def health(service: Serving) -> Health:
    """Whether the process runs."""
    return _health(service, ok=True)


@router.get("/v1/ready", responses={503: {"model": Health}})
async def ready(service: Serving) -> JSONResponse:
    """Whether the service can vouch for sessions: its engine runs and its database answers."""
    ok = service.ready
    return JSONResponse(_health(service, ok=ok).model_dump(), status_code=200 if ok else 503)


@router.get("/metrics", response_class=PlainTextResponse)
async def metrics(caller: Called, service: Serving) -> str:
    """Give counts and times of this process, in the text format of Prometheus."""
    caller.require("viewer")
    return service.metrics.render()


@router.get("/v1/policies")
async def policies(caller: Called, service: Serving) -> Policies:
    """How strict sessions are, and how strict they could be."""
    caller.require("viewer")
    return Policies(
        used=_show(service.config.rules), policies=[_show(one) for one in POLICIES.values()]
    )


@router.get("/v1/audit")
def audit(
    caller: Called, service: Serving, last: Annotated[int, Query(ge=1, le=1000)] = 100
) -> Audit:
    """Read the end of the vault's log. People appear by number."""
    caller.require()
    events = service.recognizer.vault.events()
    shown = [AuditEvent.model_validate(event.as_dict()) for event in events[-last:]]
    return Audit(events=shown, total=len(events))


def _health(service: Service, *, ok: bool) -> Health:
    return Health(
        status="ok" if ok else "not ready",
        streams=service.engine.streams,
        version=version("acclock"),
    )


def _show(policy: Policy) -> PolicyShape:
    told = asdict(policy)
    numbers = {name: float(value) for name, value in told.items() if name not in _NAMED}
    return PolicyShape(name=policy.name, entry=policy.entry, numbers=numbers)
