"""The inner loops of live clocks, compiled where there was a C compiler."""

try:
    from acclock.acquisition._clock import count_steps, place, survey
except ImportError:
    from acclock.acquisition.uncompiled import count_steps, place, survey

__all__ = ["count_steps", "place", "survey"]
