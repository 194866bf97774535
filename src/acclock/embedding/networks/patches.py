"""Windows, cut into the patches that attention takes for tokens."""

from torch import Tensor


def cut_patches(windows: Tensor, patch_length: int) -> Tensor:
    """Cut each axis into patches that do not overlap: ``(batch, axis, patch, sample)``.

    Paper: Sec. 5.2. What is left at the end, shorter than a patch, is dropped.
    """
    batch, axes, length = windows.shape
    count = length // patch_length
    return windows[..., : count * patch_length].reshape(batch, axes, count, patch_length)
