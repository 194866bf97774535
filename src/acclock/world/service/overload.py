"""When there are too many streams: told by how long their pieces wait."""

import math

_SLOW_S, _QUICK_S = 0.5, 0.1
"""When the oldest waits so long, the engine is behind; when so short, it has caught up."""
_PATIENCE_S, _AGAIN_S = 1.0, 0.5
"""Who is behind for so long has too many streams, and then again every half second."""
_CALM_S = 5.0
"""How long no stream is admitted after some were shed."""


class Overload:
    """Watches how long pieces wait. A hiccup is no overload."""

    def __init__(self) -> None:
        self._behind_s: float | None = None
        self._shed_s = -math.inf

    def is_over(self, now_s: float) -> bool:
        """Whether nobody had to be sent away for a while."""
        return now_s - self._shed_s >= _CALM_S

    def note(self, waited_s: float, now_s: float) -> bool:
        """Note how long a piece waited; say whether streams must be sent away now.

        >>> overload = Overload()
        >>> [overload.note(0.6, now_s) for now_s in (10.0, 10.9, 11.1, 11.2, 11.7)]
        [False, False, True, False, True]
        """
        if waited_s < _QUICK_S:
            self._behind_s = None
        elif waited_s > _SLOW_S and self._behind_s is None:
            self._behind_s = now_s
        elif self._behind_s is not None and now_s - self._behind_s > _PATIENCE_S:
            self._behind_s = now_s - _PATIENCE_S + _AGAIN_S
            self._shed_s = now_s
            return True
        return False
