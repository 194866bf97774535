"""Curves for TensorBoard."""

from pathlib import Path

from torch.utils.tensorboard import SummaryWriter

from acclock.training.checkpoint import Report


class Scalars:
    """Loss and error of every epoch, written as they come. A run that goes on adds to them."""

    def __init__(self, folder: Path) -> None:
        self._writer = SummaryWriter(str(folder))

    def add(self, report: Report) -> None:
        """Write down one epoch."""
        self._write(f"{report.stage}/loss", report.loss, report.epoch)
        if report.error is not None:
            self._write(f"{report.stage}/equal_error", report.error, report.epoch)

    def close(self) -> None:
        """Write out what is still held."""
        self._writer.close()

    def _write(self, name: str, value: float, epoch: int) -> None:
        self._writer.add_scalar(name, value, epoch)
