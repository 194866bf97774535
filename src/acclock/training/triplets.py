"""Triplets: an anchor, someone's other window, and somebody else's."""

from dataclasses import dataclass

import torch
from pytorch_metric_learning.distances import CosineSimilarity
from pytorch_metric_learning.miners import TripletMarginMiner
from torch import Tensor
from torch.nn import functional

from acclock.errors import ConfigError


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
