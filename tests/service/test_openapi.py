"""Whatever fits the OpenAPI document, or does not, gets a clear answer and never a 5xx."""

from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import (
    negative_data_rejection,
    not_a_server_error,
    response_schema_conformance,
    status_code_conformance,
)
from schemathesis.core.result import Ok

if TYPE_CHECKING:
    from tests.service.conftest import Running

CHECKS = [
    negative_data_rejection,
    not_a_server_error,
    response_schema_conformance,
    status_code_conformance,
]
LEFT_OUT = ("/v1/events",)
"""A stream of events has no end."""
MODES = [GenerationMode.POSITIVE, GenerationMode.NEGATIVE]


def is_fit(case: Any) -> bool:  # noqa: ANN401 - schemathesis gives its own
    """Tell whether nothing is wrong with a case but its headers, which we mend."""
    unfit = {
        place.value
        for place, part in case.meta.components.items()
        if part.mode is GenerationMode.NEGATIVE
    }
    return unfit <= {"header"}


def has_vanished(case: Any, answer: Any) -> bool:  # noqa: ANN401 - schemathesis gives its own
    """Tell whether a parameter was lost on the way: an empty list leaves no trace in an address."""
    arrived = parse_qs(urlsplit(answer.request.url).query, keep_blank_values=True)
    return bool(set(case.query or {}) - set(arrived))


def ask_everything(running: "Running", mode: GenerationMode, examples: int) -> set[str]:
    """Send generated requests to every operation, and give the paths that were asked."""
    headers = {"Authorization": f"Bearer {running.token('operator')}"}
    schema = schemathesis.openapi.from_url(f"{running.url}/v1/openapi.json")
    operations = [found.ok() for found in schema.get_all_operations() if isinstance(found, Ok)]
    asked = [one for one in operations if one.path not in LEFT_OUT]
    for operation in asked:

        @settings(
            max_examples=examples,
            deadline=None,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(case=operation.as_strategy(generation_mode=mode))
        def call(case: Any) -> None:  # noqa: ANN401 - schemathesis gives its own
            answer = case.call(headers=headers, timeout=30)
            mended = is_fit(case) or has_vanished(case, answer)
            case.validate_response(answer, checks=CHECKS[mended:], headers=headers)

        try:
            call()
        except schemathesis.errors.InvalidSchema:
            pytest.fail(f"{operation.path} is not described")
        except Exception as error:
            if "NonEmptyGenerator" in type(error).__name__ or "Unsatisfiable" in str(type(error)):
                continue  # there is nothing that could be wrong about a request without parameters
            raise
    return {one.path for one in asked}


@pytest.mark.parametrize("mode", MODES, ids=["fitting", "unfit"])
def test_every_operation_answers_clearly(
    running: "Running", mode: GenerationMode, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")

    asked = ask_everything(running, mode, 5)

    assert {"/v1/people", "/v1/people/{name}/verify", "/v1/tokens", "/v1/push"} <= asked


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES, ids=["fitting", "unfit"])
def test_every_operation_answers_clearly_for_long(
    running: "Running", mode: GenerationMode, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")

    assert ask_everything(running, mode, 300)
