"""Silence around libraries that talk while they work."""

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def quietly() -> Iterator[None]:
    """Spare the user remarks that only the authors of a library can act on.

    Torch's exporter warns of its own old habits and of torchvision, which nobody asked for;
    the quantizer leaves a file open and advises on preparations. Errors are still raised.
    """
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)
