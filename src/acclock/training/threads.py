"""How many cores torch takes."""

import torch


def use_threads(count: int) -> None:
    """Let torch use so many threads for one operation. Sums may differ in the last digit."""
    torch.set_num_threads(count)
