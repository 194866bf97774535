import json

import pytest

from acclock.embedding.networks.config import CnnConfig
from acclock.errors import ConfigError
from acclock.training.recipe import RECIPES, Recipe, find_recipe, read_recipe, write_recipe


@pytest.mark.paper("Sec. 7.1.1")
def test_the_papers_recipe_is_the_papers() -> None:
    recipe = find_recipe("paper")

    network, embedding = recipe.network_stage, recipe.embedding_stage
    assert (recipe.network, recipe.rate_hz, recipe.folds) == ("hidnet", 100.0, 3)
    assert (network.epochs, network.learning_rate, network.weight_decay) == (100, 1e-4, 0.0)
    assert (embedding.epochs, embedding.learning_rate) == (80, 5e-4)
    assert [network.rate_at(epoch) for epoch in (19, 20, 40)] == [1e-4, 5e-5, 2.5e-5]
    assert recipe.windows_per_person == 240


def test_a_file_changes_what_it_names_and_nothing_else() -> None:
    recipe = read_recipe(
        'base = "fast"\nnetwork = "cnn"\nrate_hz = 50\n'
        "[sizes]\nblocks = 2\n[augmentation]\ngain = 0.5\n"
    )

    assert recipe.network_config == CnnConfig(blocks=2)
    assert recipe.rate_hz == 50.0
    assert recipe.augmentation.gain == 0.5
    assert recipe.augmentation.noise == RECIPES["fast"].augmentation.noise
    assert recipe.network_stage == RECIPES["fast"].network_stage


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("base = ", "not TOML"),
        ('base = "slow"', "no recipe called 'slow'"),
        ("speed = 3", "has no speed"),
        ("[network_stage]\nepoch = 3", "has no epoch"),
        ("[network_stage]\nepochs = 0", "at least one epoch"),
        ("[network_stage]\nepochs = 'many'", "was expected"),
        ("folds = true", "was expected"),
        ("folds = 1", "two folds"),
        ("rate_hz = 5.0", "samples a second"),
        ("axes = 2", "one axis or three"),
        ('network = "oracle"', "no network called"),
        ("[sizes]\nwings = 2", "no size called wings"),
        ('preparation = "none"', "a preparation is one of"),
        ('offsets = "somewhere"', "offsets are"),
        ("longest_gradient = 0.0", "longest_gradient"),
        ("[augmentation]\npace = 0.9", "pace lies between"),
    ],
)
def test_a_recipe_that_makes_no_sense_is_refused_in_a_sentence(text: str, complaint: str) -> None:
    with pytest.raises(ConfigError, match=complaint) as refusal:
        read_recipe(text)

    assert "\n" not in str(refusal.value)


def test_every_number_of_a_recipe_is_written_down() -> None:
    told = json.loads(write_recipe(Recipe(seed=7)))

    assert told["seed"] == 7
    assert told["network_stage"]["learning_rate"] == 1e-4
    assert write_recipe(Recipe(seed=7)) == write_recipe(Recipe(seed=7))
