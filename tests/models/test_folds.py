"""Fold models: found again, and honest about whom they have met."""

from pathlib import Path

import pytest

from benchmarks.folds import read_folds, shipped_encoder


def test_without_fold_models_it_is_said_how_they_are_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ACCLOCK_FOLDS", str(tmp_path))

    with pytest.raises(SystemExit, match=r"make them: python -m benchmarks.folds --deal 2"):
        read_folds(deal=2)


def test_an_encoder_tells_whom_it_has_met(data_folder: Path) -> None:
    from benchmarks.session import read_chests

    encoder = shipped_encoder()

    assert all(encoder.has_met(f"mscardio/{name}") for name in read_chests(data_folder))
    assert not encoder.has_met("mscardio/nobody")
