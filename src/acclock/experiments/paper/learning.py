"""A model trained once for all experiments that ask for the same."""

from collections.abc import Iterator, Sequence

import safetensors.torch

from acclock.embedding.networks.registry import build
from acclock.embedding.networks.siamese import EmbeddingModel
from acclock.experiments.paper.cache import Cache, digest
from acclock.experiments.paper.versions import VERSIONS
from acclock.training.recipe import Recipe
from acclock.training.recipes import write_recipe
from acclock.training.run import Run
from acclock.training.subjects import Subject


def learn_once(recipe: Recipe, subjects: Sequence[Subject], *, cache: Cache) -> EmbeddingModel:
    """Train a model on these people, or take the one that was trained on the same before."""
    name = f"{digest(_tell(recipe, subjects))}.safetensors"
    if (packed := cache.find(name)) is not None:
        model = build(
            recipe.network,
            shape=recipe.shape,
            people=len(subjects),
            seed=recipe.seed,
            config=recipe.network_config,
            embedding_width=recipe.embedding_width,
        )
        model.load_state_dict(safetensors.torch.load(packed))
        return model.eval()
    run = Run(recipe, subjects)
    while not run.finished:
        run.advance()
    weights = {key: tensor.contiguous() for key, tensor in run.model.state_dict().items()}
    cache.keep(name, bytes(safetensors.torch.save(weights)))
    return run.model


def _tell(recipe: Recipe, subjects: Sequence[Subject]) -> Iterator[bytes]:
    """Tell all that a training hangs on: the recipe, the sizes and every sample, in order."""
    yield f"{VERSIONS['encoder']} {write_recipe(recipe)} {recipe.network_config}".encode()
    for subject in subjects:
        yield subject.source.encode()
        for session in subject.sessions:
            yield session.grid.windows.tobytes()
            yield session.grid.ends.tobytes()
            yield session.recording.samples.tobytes()
