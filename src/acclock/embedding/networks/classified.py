"""How a plain network learns: by naming people."""

from torch import Tensor, nn

from acclock.embedding.networks.cnn import Cnn
from acclock.embedding.networks.conformer import Conformer
from acclock.embedding.networks.lstm import Lstm
from acclock.embedding.networks.outputs import Outputs
from acclock.embedding.networks.projection import Projection
from acclock.embedding.networks.resnet import ResNet50
from acclock.embedding.networks.two_branch import TwoBranch
from acclock.embedding.networks.views import Views

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
