"""The shared encoder of HIDNet."""

from torch import Tensor, nn

from acclock.embedding.networks.config import EncoderConfig, WindowShape
from acclock.embedding.networks.patches import cut_patches
from acclock.errors import ConfigError


class SharedEncoder(nn.Module):
    """Denoised windows in, two half-embeddings out: identity and nuisance.

    Paper: Sec. 5.2, Eq. (3), where the halves are e_ID and e_NID. Patches stand for tokens,
    self-attention lets them look at each other, their mean is projected and split. Nothing here
    makes the halves differ in meaning; the losses do (:mod:`acclock.training.losses`).

    Of several axes, a patch holds the samples of all.
    """

    def __init__(self, config: EncoderConfig, shape: WindowShape) -> None:
        super().__init__()
        self.patch_length = config.measure_patch(shape.rate_hz)
        if shape.length < self.patch_length:
            raise ConfigError(
                f"a window of {shape.length} samples has no patch of {self.patch_length}"
            )
        self.embed = nn.Linear(shape.axes * self.patch_length, config.model_width)
        self.attend = nn.MultiheadAttention(config.model_width, config.heads, batch_first=True)
        self.project = nn.Linear(config.model_width, config.embedding_width)

    def forward(self, windows: Tensor) -> tuple[Tensor, Tensor]:
        patches = cut_patches(windows, self.patch_length).transpose(1, 2)
        tokens = self.embed(patches.flatten(2))  # (batch, patch, model)
        mixed, _ = self.attend(tokens, tokens, tokens, need_weights=False)
        embedding = self.project(mixed.mean(dim=1))  # (batch, embedding)
        identity, nuisance = embedding.chunk(2, dim=1)
        return identity, nuisance
