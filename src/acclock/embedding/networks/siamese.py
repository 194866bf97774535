"""The Siamese embedding, and the whole way from window to unit vector."""

from torch import Tensor, nn
from torch.nn import functional

from acclock.embedding.networks.classified import Classified
from acclock.embedding.networks.hidnet import HIDNet
from acclock.embedding.networks.leveling import level


class SiameseHead(nn.Module):
    """Identity features in, embeddings out: a single layer, trained by triplets.

    Paper: Sec. 6.2, the network f. Which triplets and what they cost is told in
    :mod:`acclock.training.triplets`.
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
