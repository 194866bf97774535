"""What training makes small: the losses of HIDNet, and triplets."""

from dataclasses import dataclass, replace

import torch
from pytorch_metric_learning.distances import CosineSimilarity
from pytorch_metric_learning.miners import TripletMarginMiner
from torch import Tensor
from torch.nn import functional

from acclock.embedding.networks.hidnet import Outputs
from acclock.embedding.networks.registry import Design
from acclock.errors import ConfigError


@dataclass(frozen=True, slots=True, kw_only=True)
class LossConfig:
    """How much each term counts. Ours: the paper gives no numbers (docs/decisions/0011)."""

    adversarial: float = 0.1
    """λ_adv of Eq. 10."""
    integrity: float = 0.5
    """λ_IIC of Eq. 10."""
    orthogonality: float = 0.1
    """λ_ortho of Eq. 10."""
    orthogonality_strength: float = 1.0
    """ρ of Eq. 8. One of it and λ_ortho is redundant; both are kept because the paper has both."""

    def __post_init__(self) -> None:
        for name in ("adversarial", "integrity", "orthogonality", "orthogonality_strength"):
            if not getattr(self, name) >= 0:
                raise ConfigError(
                    f"{name} weighs a loss and is not negative: {getattr(self, name)}"
                )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Losses:
    """Every term of a batch, and what they come to. A term that a network lacks is zero."""

    identity: Tensor
    adversarial: Tensor
    integrity: Tensor
    orthogonality: Tensor
    total: Tensor


def drop_ablated(config: LossConfig, design: Design) -> LossConfig:
    """Give the weights without those of the terms that a design leaves out.

    Paper: Sec. 7.3, V1 to V3.
    """
    return replace(
        config,
        orthogonality=config.orthogonality if design.orthogonal else 0.0,
        integrity=config.integrity if design.reconstructs else 0.0,
    )


def identity_loss(logits: Tensor, people: Tensor) -> Tensor:
    r"""Give the cross-entropy of naming the person from the identity features.

    .. math:: \mathcal{L}_{ID} = -\sum_i y_i \log \hat{y}_i

    Paper: Sec. 5.3, Eq. (4), where ``people`` is y as numbers from 0; mean over the batch.
    """
    return functional.cross_entropy(logits, people)


def adversarial_loss(logits: Tensor, people: Tensor) -> Tensor:
    r"""Give the cross-entropy of naming the person from the nuisance features.

    .. math:: \mathcal{L}_{adv} = -\sum_i y_i \log \tilde{y}_i

    Paper: Sec. 5.4, Eq. (7). It is made small by the classifier and, through the reversed
    gradient, large by everything before it.
    """
    return functional.cross_entropy(logits, people)


def orthogonality_loss(identity: Tensor, nuisance: Tensor, *, strength: float) -> Tensor:
    r"""Give how far identity and nuisance are from standing at a right angle.

    .. math:: \mathcal{R}_{ortho} = \rho \cos^2(\mathbf{H}_{ID}, \mathbf{H}_{NID})

    Paper: Sec. 5.5, Eq. (8), where ``strength`` is ρ; mean over the batch.
    """
    return strength * functional.cosine_similarity(identity, nuisance, dim=1).square().mean()


def integrity_loss(windows: Tensor, reconstruction: Tensor) -> Tensor:
    r"""Give the mean square of what the reconstruction gets wrong.

    .. math:: \mathcal{L}_{IIC} = \|\mathbf{X} - \hat{\mathbf{X}}\|_2^2

    Paper: Sec. 5.6, Eq. (9), which names it both a squared norm and a mean squared error; the
    mean, over batch and samples, does not grow with the rate.
    """
    return functional.mse_loss(reconstruction, windows)


def total_loss(outputs: Outputs, *, windows: Tensor, people: Tensor, config: LossConfig) -> Losses:
    r"""Give every term and their weighted sum.

    .. math:: \mathcal{L} = \mathcal{L}_{ID} + \lambda_{adv}\mathcal{L}_{adv}
              + \lambda_{IIC}\mathcal{L}_{IIC} + \lambda_{ortho}\mathcal{R}_{ortho}

    Paper: Sec. 5.6, Eq. (10), where the λ are the fields of ``config``.
    """
    identity = identity_loss(outputs.identity_logits, people)
    adversarial = integrity = orthogonality = torch.zeros_like(identity)
    if outputs.nuisance_logits is not None:
        adversarial = adversarial_loss(outputs.nuisance_logits, people)
    if outputs.reconstruction is not None:
        integrity = integrity_loss(windows, outputs.reconstruction)
    if outputs.nuisance is not None:
        orthogonality = orthogonality_loss(
            outputs.identity, outputs.nuisance, strength=config.orthogonality_strength
        )
    return Losses(
        identity=identity,
        adversarial=adversarial,
        integrity=integrity,
        orthogonality=orthogonality,
        total=identity
        + config.adversarial * adversarial
        + config.integrity * integrity
        + config.orthogonality * orthogonality,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class TripletConfig:
    """What the Siamese embedding is asked for."""

    margin: float = 0.2
    """α of Eq. 14, in cosine distance. Ours (docs/decisions/0011)."""

    def __post_init__(self) -> None:
        if not 0 < self.margin < 2:
            raise ConfigError(
                f"cosine distances lie between 0 and 2, and so does a margin, not {self.margin}"
            )


@dataclass(frozen=True, slots=True, eq=False)
class Triplets:
    """Which rows of a batch stand together: three index vectors of one length."""

    anchors: Tensor
    positives: Tensor
    negatives: Tensor

    def __len__(self) -> int:
        return len(self.anchors)


def find_violating(embeddings: Tensor, people: Tensor, *, margin: float) -> Triplets:
    """Give all triplets of a batch whose negative is not yet farther than the positive by a margin.

    Paper: Sec. 6.2, the set H: the others are excluded. A triplet that keeps the margin exactly
    is excluded as well.
    """
    miner = TripletMarginMiner(margin, type_of_triplets="all", distance=CosineSimilarity())
    with torch.no_grad():
        found = Triplets(*miner(embeddings, people))
        kept = separations(embeddings, found) > -margin  # the miner keeps ties, the paper does not
    return Triplets(found.anchors[kept], found.positives[kept], found.negatives[kept])


def separations(embeddings: Tensor, triplets: Triplets) -> Tensor:
    r"""Give, for each triplet, how much farther the positive is than the negative: small is good.

    .. math:: D(f(\mathbf{X}^a), f(\mathbf{X}^p)) - D(f(\mathbf{X}^a), f(\mathbf{X}^n))

    Paper: Sec. 6.1, Eq. (12), where D is the cosine distance.
    """
    # every pair once: a batch has a million triplets, and only some ten thousand pairs
    unit = functional.normalize(embeddings, dim=1)
    cosines = unit @ unit.T
    near = cosines[triplets.anchors, triplets.positives]
    far = cosines[triplets.anchors, triplets.negatives]
    return far - near


def mean_separation(embeddings: Tensor, triplets: Triplets) -> Tensor:
    r"""Give the mean over triplets: the plain aim, to watch and not to descend.

    .. math:: \frac{1}{n}\sum_i [\cos(\mathbf{h}_i^a, \mathbf{h}_i^p)
              - \cos(\mathbf{h}_i^a, \mathbf{h}_i^n)]

    Paper: Sec. 6.2, Eq. (13), where cos is the cosine *distance*. Of no triplets it is zero.
    """
    return separations(embeddings, triplets).sum() / max(len(triplets), 1)


def triplet_loss(embeddings: Tensor, triplets: Triplets, *, margin: float) -> Tensor:
    r"""Give what the triplets still lack of the margin, on average.

    .. math:: \frac{1}{n}\sum_i [\cos(\mathbf{h}_i^a, \mathbf{h}_i^p)
              - \cos(\mathbf{h}_i^a, \mathbf{h}_i^n) + \alpha]_+

    Paper: Sec. 6.2, Eq. (14), where ``margin`` is α. Of no triplets it is zero, with a gradient.
    """
    lacking = functional.relu(separations(embeddings, triplets) + margin)
    return lacking.sum() / max(len(triplets), 1)
