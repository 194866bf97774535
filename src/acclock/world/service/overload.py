"""When there are too many streams: told by how long their pieces wait."""

import math

_SLOW_S, _BETTER_S, _QUICK_S = 0.5, 0.25, 0.1
"""When the oldest waits so long, the engine is behind; when so short, it is catching up, or has."""
_PATIENCE_S, _AGAIN_S = 1.0, 0.5
"""Who is no better after so long has too many streams, and then again every half second."""
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
        >>> hiccup = Overload()
        >>> [hiccup.note(*one) for one in ((0.6, 10.0), (0.4, 10.5), (0.2, 11.1), (0.05, 12.0))]
        [False, False, False, False]
        """
        if waited_s < _QUICK_S:
            self._behind_s = None
        elif waited_s > _SLOW_S and self._behind_s is None:
            self._behind_s = now_s
        elif (
            self._behind_s is not None
            and now_s - self._behind_s > _PATIENCE_S
            and waited_s > _BETTER_S
        ):
            self._behind_s = now_s - _PATIENCE_S + _AGAIN_S
            self._shed_s = now_s
            return True
        return False
