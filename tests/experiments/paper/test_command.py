"""``acclock experiment``, from the outside."""

import json

import pytest
import typer
from typer.testing import CliRunner

from acclock.cli.experiment import experiment
from acclock.errors import ConfigError

APP = typer.Typer()
APP.command()(experiment)


def test_the_list_names_every_experiment_and_its_figure() -> None:
    result = CliRunner().invoke(APP, ["list", "--json"])

    assert "Fig. 22" in json.loads(result.stdout)["movements"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["run", "movemnts"], "did you mean 'movements'"),
        (["run", "users", "--cohort", "mscardio"], "doi.org"),
        (["report", "--scale", "huge"], "there is no scale 'huge'"),
    ],
)
def test_a_refusal_is_a_sentence(arguments: list[str], said: str) -> None:
    result = CliRunner().invoke(APP, arguments)

    assert isinstance(result.exception, ConfigError)
    assert said in str(result.exception)
