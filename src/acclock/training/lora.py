"""Low-rank adaptation: a few numbers beside the weights teach a network a new device."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize

from acclock.errors import ConfigError


@dataclass(frozen=True, slots=True, kw_only=True)
class LoraConfig:
    """How much a network may change. Ours: the paper gives no numbers (docs/decisions/0013)."""

    rank: int = 4
    scale: float = 2.0
    """What the low-rank product is multiplied by."""

    def __post_init__(self) -> None:
        if self.rank < 1:
            raise ConfigError(f"rank must be at least 1, not {self.rank}")
        if not self.scale > 0:
            raise ConfigError(f"scale must be positive, not {self.scale}")


class LowRankChange(nn.Module):
    """A weight in, the same weight out plus a product of two thin matrices.

    Only ``rows`` of the weight change, block by block, each with a product of its own. One factor
    starts at zero, so that nothing changes before the first step.
    """

    def __init__(self, weight: Tensor, config: LoraConfig, blocks: list[slice]) -> None:
        super().__init__()
        self.scale = config.scale
        self.blocks = blocks
        columns = weight[0].numel()
        heights = [len(range(*block.indices(len(weight)))) for block in blocks]
        self.ups = nn.ParameterList(torch.zeros(height, config.rank) for height in heights)
        self.downs = nn.ParameterList(
            torch.randn(config.rank, columns) / columns**0.5 for _ in blocks
        )

    def forward(self, weight: Tensor) -> Tensor:
        changed = weight.flatten(1).clone()
        for block, up, down in zip(self.blocks, self.ups, self.downs, strict=True):
            changed[block] = changed[block] + self.scale * (up @ down)
        return changed.view_as(weight)


def adapt(network: nn.Module, config: LoraConfig, *, seed: int) -> list[nn.Parameter]:
    """Freeze a network, give it low-rank changes, and return the parameters that may learn.

    Paper: Sec. 7.5. Changed are all convolutions and, in attention, the projections of query and
    value. Train it in evaluation mode: the running means of the normalizations belong to the
    frozen part.
    """
    network.requires_grad_(requires_grad=False)
    changes: list[LowRankChange] = []
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        for module in list(network.modules()):
            for name, blocks in _find_changeable(module).items():
                change = LowRankChange(getattr(module, name), config, blocks)
                parametrize.register_parametrization(module, name, change)
                changes.append(change)
    if not changes:
        raise ConfigError("this network has neither convolutions nor attention to adapt")
    return [parameter for change in changes for parameter in change.parameters()]


def merge(network: nn.Module) -> None:
    """Make the changes part of the weights: the network is again as it was built, but adapted."""
    for module in list(network.modules()):
        if parametrize.is_parametrized(module):
            for name in _find_changeable(module):
                parametrize.remove_parametrizations(module, name, leave_parametrized=True)


def _find_changeable(module: nn.Module) -> dict[str, list[slice]]:
    """Which weight of a module changes, and which blocks of its rows."""
    if isinstance(module, nn.Conv1d):
        return {"weight": [slice(None)]}
    if isinstance(module, nn.MultiheadAttention):
        width = module.embed_dim
        queries, values = slice(0, width), slice(2 * width, 3 * width)
        return {"in_proj_weight": [queries, values]}
    return {}
