"""Could it be the phone? What can be told from the noise of the sensor alone.

    python -m benchmarks.phone_only MSCARDIO

Windows are cut as for any encoder, but only what lies above the heart is looked at: the power
between 42 and 49 Hz on each axis, and the noise floor by second differences. These few numbers
are whitened and tried exactly as the encoders are.
"""

import argparse
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from acclock.acquisition.windows import cut
from acclock.embedding.card import Card, hash_person
from acclock.experiments.gallery import Gallery
from acclock.experiments.participants import Participant, gather
from acclock.experiments.trials import (
    FEWEST_RECORDINGS,
    Trials,
    enroll_all,
    plan,
    pool_trials,
    try_all,
)
from acclock.matching.rates import equal_error
from acclock.training.whitening import Labels, Whitening, WhiteningConfig, fit_whitening
from acclock.values import FloatArray, Recording

FOLDS = 3
_ABOVE_HZ = np.linspace(42.0, 49.0, 8)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Noises:
    """What the sensors of some people sound like."""

    features: FloatArray
    people: np.ndarray[tuple[int], np.dtype[np.intp]]
    recordings: np.ndarray[tuple[int], np.dtype[np.intp]]


def listen(recording: Recording) -> FloatArray:
    """Give the numbers of every window of a recording."""
    windows = np.stack(cut(recording, window_s=4.0, step_s=4.0))
    power = np.abs(np.fft.rfft(windows * np.hanning(windows.shape[-1]))) ** 2
    bins = np.fft.rfftfreq(windows.shape[-1], 1.0 / recording.rate_hz)
    edges = pairwise(_ABOVE_HZ)
    bands = [power[..., (bins >= low) & (bins < high)].mean(axis=-1) for low, high in edges]
    floor = np.median(np.abs(np.diff(windows, n=2)), axis=-1)
    return np.log(np.concatenate([*bands, floor], axis=1) + 1e-12)


def gather_noises(people: list[Participant]) -> Noises:
    parts = [listen(one) for person in people for one in person.recordings]
    counts = [len(part) for part in parts]
    owners = [who for who, person in enumerate(people) for _ in person.recordings]
    return Noises(
        features=np.concatenate(parts),
        people=np.repeat(owners, counts),
        recordings=np.repeat(np.arange(len(parts)), counts),
    )


def fit(people: list[Participant]) -> Whitening:
    heard = gather_noises(people)
    labels = Labels(
        people=heard.people, sessions=heard.recordings, sources=np.zeros_like(heard.people)
    )
    return fit_whitening(heard.features, labels, width=24, config=WhiteningConfig())


def try_fold(head: Whitening, people: list[Participant], windows: int) -> Trials:
    heard = gather_noises(people)
    rows = heard.features @ head.weight.T + head.bias
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    gallery = Gallery(embeddings=rows, wearers=heard.people, recordings=heard.recordings)
    planned = plan(gallery, "cross-session", seed=0)
    return try_all(gallery, planned, enroll_all(gallery, planned), windows=windows)


def main() -> None:
    parser = argparse.ArgumentParser(description="Could it be the phone?")
    parser.add_argument("data", help="MSCardio as a folder or zip")
    told = parser.parse_args()
    found = gather(
        "mscardio",
        told.data,
        card=_blank_card(),
        fewest_recordings=FEWEST_RECORDINGS["cross-session"],
    )
    everyone = list(found.participants)
    order = np.random.default_rng(0).permutation(len(everyone))
    folds = [[everyone[n] for n in order[fold::FOLDS]] for fold in range(FOLDS)]
    heads = [fit([one for one in everyone if one not in fold]) for fold in folds]
    for windows in (1, 5, 15):
        pairs = zip(heads, folds, strict=True)
        pooled = pool_trials([try_fold(head, fold, windows) for head, fold in pairs])
        rate = equal_error(pooled.distances[pooled.own], pooled.distances[pooled.others]).rate
        print(f"{windows} windows: equal error {100 * rate:.1f} %, {len(everyone)} people")


def _blank_card() -> Card:
    return Card(
        name="phone", version="1", network="none", config={}, rate_hz=100.0, axes=3,
        window_length=400, embedding_width=24, preparation="bandpass", denoiser="none",
        training_data=(), people=(hash_person("nobody"),), license="Apache-2.0", metrics={},
    )  # fmt: skip


if __name__ == "__main__":
    main()
