"""The Siamese embedding, and the whole way from window to unit vector."""

from torch import Tensor, nn
from torch.nn import functional

from acclock.embedding.networks.baselines import Cnn, Conformer, Lstm, Projection, ResNet50
from acclock.embedding.networks.hidnet import HIDNet, Outputs
from acclock.embedding.networks.two_branch import TwoBranch
from acclock.embedding.networks.views import Views

_QUIETEST = 1e-6
"""RMS in m/s² below which a window is silence and is not blown up."""


def level(windows: Tensor) -> Tensor:
    """Give windows with a mean square of one over all axes together; silence stays silent.

    Ours (docs/decisions/0018): a heart in the ear shakes ten times harder than one on the chest,
    and a looser earphone less. How the axes compare is kept.
    """
    power = windows.square().mean(dim=(1, 2), keepdim=True)
    return windows / (power + _QUIETEST**2).sqrt()


Plain = Cnn | ResNet50 | Conformer | Lstm | Projection | TwoBranch | Views


class Classified(nn.Module):
    """A plain network with a classifier of people beside it, to stand where HIDNet stands.

    Paper: Sec. 7.2.4, where the baselines take the place of HIDNet and the rest is unchanged.
    """

    def __init__(self, read: Plain, people: int) -> None:
        super().__init__()
        self.feature_width = read.feature_width
        self.read = read
        self.name_person = nn.Linear(read.feature_width, people)

    def forward(self, windows: Tensor) -> Tensor:
        return self.read(windows)

    def outputs(self, windows: Tensor, *, reversal: float) -> Outputs:  # noqa: ARG002
        """Give the features and whom they point to; without an adversary nothing is reversed."""
        identity = self.read(windows)
        return Outputs(identity=identity, identity_logits=self.name_person(identity))


class SiameseHead(nn.Module):
    """Identity features in, embeddings out: a single layer, trained by triplets.

    Paper: Sec. 6.2, the network f. Which triplets and what they cost is told in
    :mod:`acclock.training.losses`.
    """

    def __init__(self, feature_width: int, embedding_width: int) -> None:
        super().__init__()
        self.embed = nn.Linear(feature_width, embedding_width)

    def forward(self, features: Tensor) -> Tensor:
        return self.embed(features)


class EmbeddingModel(nn.Module):
    """Windows in m/s² in, unit embeddings out: what is exported and what a template is made of.

    However strong a window is, it is brought to one level first (docs/decisions/0018). Of unit
    length because the cosine that trained the embeddings and the Euclidean distance that decides
    on them then agree (docs/decisions/0010). Without a head (V5) the features are the embedding.
    """

    def __init__(self, network: HIDNet | Classified, head: SiameseHead | None) -> None:
        super().__init__()
        self.network = network
        self.head = head

    @property
    def embedding_width(self) -> int:
        """How many numbers an embedding has."""
        if self.head is None:
            return self.network.feature_width
        return self.head.embed.out_features

    def forward(self, windows: Tensor) -> Tensor:
        return self.embed(self.network(level(windows)))

    def embed(self, features: Tensor) -> Tensor:
        """Turn the network's features into unit embeddings: all that the second stage trains."""
        embeddings = features if self.head is None else self.head(features)
        return functional.normalize(embeddings, dim=1)
