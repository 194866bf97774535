"""One training: a model that goes through its stages, epoch by epoch, put aside after each."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from acclock.embedding.networks.registry import build
from acclock.embedding.networks.siamese import EmbeddingModel, level
from acclock.errors import ModelError
from acclock.system.files import replacing
from acclock.training.batches import draw_batches, keep_axes
from acclock.training.checkpoint import Checkpoint, Report, Scalars
from acclock.training.grid import Windows
from acclock.training.judging import DatasetTrials, judge_model, try_all
from acclock.training.lessons import StagePlan, descend, plan_lessons
from acclock.training.recipe import Recipe
from acclock.training.subjects import Subject
from acclock.training.whitening import Labels, fit_whitening
from acclock.values import FloatArray


def use_threads(count: int) -> None:
    """Let torch use so many threads for one operation. Sums may differ in the last digit."""
    torch.set_num_threads(count)


_BATCH = 256


def fit_head(model: EmbeddingModel, subjects: Sequence[Subject], recipe: Recipe) -> float:
    """Give a model the head that whitens its features.

    Tells how far people's windows lie from their own center then, on average.
    """
    if model.head is None:
        raise ModelError(f"{recipe.network} has no head that could be fitted")
    windows, labels = _lay_out(subjects, recipe.axes)
    features = _read(model, windows)
    fitted = fit_whitening(features, labels, width=recipe.embedding_width, config=recipe.whitening)
    with torch.no_grad():
        model.head.embed.weight.copy_(torch.from_numpy(fitted.weight))
        model.head.embed.bias.copy_(torch.from_numpy(fitted.bias))
    embeddings = features @ fitted.weight.T + fitted.bias
    embeddings /= np.linalg.norm(embeddings, axis=1, keepdims=True)
    return _measure_scatter(embeddings, labels)


def _lay_out(subjects: Sequence[Subject], axes: int) -> tuple[Windows, Labels]:
    sources = sorted({subject.source for subject in subjects})
    held = [
        (session.grid.windows, person, sources.index(subject.source))
        for person, subject in enumerate(subjects)
        for session in subject.sessions
    ]
    counts = [len(windows) for windows, _, _ in held]
    return keep_axes(np.concatenate([windows for windows, _, _ in held]), axes), Labels(
        people=np.repeat([person for _, person, _ in held], counts),
        sessions=np.repeat(np.arange(len(held)), counts),
        sources=np.repeat([source for _, _, source in held], counts),
    )


def _read(model: EmbeddingModel, windows: Windows) -> FloatArray:
    with torch.inference_mode():
        parts = [
            model.network(level(torch.from_numpy(windows[start : start + _BATCH]))).numpy()
            for start in range(0, len(windows), _BATCH)
        ]
    return np.concatenate(parts).astype(np.float64)


def _measure_scatter(embeddings: FloatArray, labels: Labels) -> float:
    people = labels.people.max() + 1
    centers = np.stack([embeddings[labels.people == who].mean(axis=0) for who in range(people)])
    centers /= np.linalg.norm(centers, axis=1, keepdims=True)
    return float(np.linalg.norm(embeddings - centers[labels.people], axis=1).mean())


class Run:
    """Some people to learn from and some, whom it never sees, to be judged by.

    Every stage ends with the weights of the epoch that judged best; without anyone to judge by
    it ends with the last. All that is drawn in an epoch depends on the recipe's seed and on the
    epoch's number alone, so a run that goes on from a checkpoint equals one that never stopped.
    """

    def __init__(
        self, recipe: Recipe, learned: Sequence[Subject], judges: Sequence[Subject] = ()
    ) -> None:
        self._recipe, self._learned, self._judges = recipe, list(learned), list(judges)
        self._plans = plan_lessons(recipe)
        self.model = build(
            recipe.network,
            shape=recipe.shape,
            people=len(learned),
            seed=recipe.seed,
            config=recipe.network_config,
            embedding_width=recipe.embedding_width,
        ).eval()
        self.reports: list[Report] = []
        self._stage = self._epoch = 0
        self._best: dict[str, Tensor] = {}
        self._begin_stage()

    @property
    def finished(self) -> bool:
        return self._stage == len(self._plans)

    @property
    def length(self) -> int:
        """How many epochs there are in all."""
        return sum(plan.stage.epochs for plan in self._plans)

    def advance(self) -> Report:
        """Train for one epoch and judge what came out."""
        plan = self._plans[self._stage]
        loss = self._learn(plan)
        judged = self._judges and self._recipe.keep == "best"
        error = judge_model(self._try()) if judged else None
        report = Report(
            stage=plan.name, epoch=self._epoch, epochs=plan.stage.epochs, loss=loss, error=error
        )
        if error is None or error < self._least_error(plan.name):
            self._best = _copy(self.model.state_dict())
        self.reports.append(report)
        self._epoch += 1
        if self._epoch == plan.stage.epochs:
            self.model.load_state_dict(self._best)
            self._stage, self._epoch = self._stage + 1, 0
            self._begin_stage()
        return report

    def best_epochs(self) -> dict[str, int]:
        """Give for each stage after how many epochs it was best; the last where nobody judged."""
        best: dict[str, Report] = {}
        for report in self.reports:
            held = best.get(report.stage)
            if held is None or held.error is None or (report.error or 0.0) < held.error:
                best[report.stage] = report
        return {stage: report.epoch + 1 for stage, report in best.items()}

    def put_aside(self) -> Checkpoint:
        """Give everything that must be known to go on later."""
        return Checkpoint.of(
            stage=self._stage,
            epoch=self._epoch,
            reports=self.reports,
            model=self.model.state_dict(),
            best=self._best,
            optimizer=self._optimizer.state_dict()["state"],
        )

    def take_up(self, checkpoint: Checkpoint) -> None:
        """Go on from where a run of the same recipe and people was put aside."""
        self._stage, self._epoch = checkpoint.stage, checkpoint.epoch
        self.reports = list(checkpoint.reports)
        self.model.load_state_dict(checkpoint.tensors_of("model"))
        self._best = checkpoint.tensors_of("best")
        self._begin_stage()
        state = self._optimizer.state_dict() | {"state": checkpoint.optimizer_state()}
        self._optimizer.load_state_dict(state)

    def _begin_stage(self) -> None:
        plan = self._plans[min(self._stage, len(self._plans) - 1)]
        self._parameters = list(plan.learns(self.model).parameters())
        self._optimizer = torch.optim.AdamW(
            self._parameters, lr=plan.stage.learning_rate, weight_decay=plan.stage.weight_decay
        )

    def _learn(self, plan: StagePlan) -> float:
        if plan.teach is None:
            return fit_head(self.model, self._learned, self._recipe)
        chance = np.random.default_rng([self._recipe.seed, self._stage, self._epoch])
        for group in self._optimizer.param_groups:
            group["lr"] = plan.stage.rate_at(self._epoch)
        # What does not learn keeps still: the running means of its normalizations as well.
        self.model.eval().requires_grad_(requires_grad=False)
        plan.learns(self.model).train().requires_grad_()
        teach = plan.teach
        losses = [
            descend(
                self._optimizer,
                teach(self.model, batch, progress=self._epoch / plan.stage.epochs),
                self._parameters,
                self._recipe.longest_gradient,
            )
            for batch in draw_batches(
                self._learned, self._recipe, batch=plan.stage.batch, chance=chance
            )
        ]
        self.model.eval()
        return float(np.mean(losses))

    def _try(self) -> list[DatasetTrials]:
        return try_all(self.model, self._judges, axes=self._recipe.axes)

    def _least_error(self, stage: str) -> float:
        errors = [report.error for report in self.reports if report.stage == stage]
        return min((error for error in errors if error is not None), default=float("inf"))


def _copy(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name: tensor.detach().clone() for name, tensor in tensors.items()}


OnReport = Callable[[str, Report, int, int], object]
"""Hears which run it is, what the epoch came to, how many are done, and of how many."""


def go_on(run: Run, folder: Path, *, on_report: OnReport = lambda *_: None) -> None:
    """Bring a run to its end from wherever it was put aside, and put it aside every epoch."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "checkpoint.safetensors"
    if file.is_file():
        run.take_up(Checkpoint.from_bytes(file.read_bytes()))
    scalars = Scalars(folder)
    while not run.finished:
        report = run.advance()
        with replacing(file) as opened:
            opened.write(run.put_aside().to_bytes())
        scalars.add(report)
        on_report(folder.name, report, len(run.reports), run.length)
    scalars.close()
