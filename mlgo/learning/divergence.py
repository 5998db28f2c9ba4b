"""How training goes wrong, as typed conditions, and what a loop may do about each."""

import enum

from mlgo.run.exit_codes import ExitCode, RunError


class Divergence(enum.Enum):
    """What is wrong with an update."""

    #: Returns, a loss or a gradient hold NaN or infinity.
    NOT_FINITE = "not finite"
    #: A loss is far above anything healthy.
    EXPLODED = "exploded"
    #: The exploring policy takes nearly the same decisions every time: nothing more can be found out.
    COLLAPSED_ENTROPY = "collapsed entropy"
    #: All returns of an iteration are equal: there is nothing to prefer.
    EQUAL_RETURNS = "equal returns"


class DivergenceError(RunError):
    """The update left the region where its numbers mean anything; the weights from before it are unharmed on disk.

    Attributes:
      kind: what happened.
    """

    def __init__(self, kind: Divergence, where: str, wrong: str, remedy: str):
        super().__init__(where, wrong, remedy, ExitCode.INTERNAL_ERROR)
        self.kind = kind
