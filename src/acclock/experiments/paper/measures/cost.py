"""What an hour of wearing costs: a session runs in a process of its own, as on a phone."""

import json
import subprocess
import sys

from acclock.errors import ConfigError
from acclock.experiments.paper.units import Outcome, Unit

_HOUR_S = 3600.0
_BYTES = 2
"""Of a sample of one axis."""
_PACKET_SAMPLES, _PACKET_HEAD = 6, 12
"""Of an OpenEarable's packet: samples in it, and bytes beside them."""


def measure(unit: Unit) -> Outcome:
    """Run a session for some minutes and tell what an hour would take.

    Paper: Sec. 7.6.2. ``setting`` says how many seconds lie between two decisions.
    """
    length_s = 120 if unit.scale.is_result else 20
    command = [sys.executable, "-m", "acclock.experiments.paper.wearing"]
    command += [str(length_s), str(unit.variant.setting)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    if ran.returncode:
        raise ConfigError(f"the session that was to be measured failed: {ran.stderr.strip()}")
    told = json.loads(ran.stdout)
    share = told["cpu_s"] / length_s
    payload = told["rate_hz"] * 3 * _BYTES
    framed = payload + told["rate_hz"] / _PACKET_SAMPLES * _PACKET_HEAD
    return Outcome(
        values={
            "share of a core, %": 100.0 * share,
            "processor time of an hour, s": _HOUR_S * share,
            "resident memory, MB": told["memory_mb"],
            "radio payload of an hour, MB": _HOUR_S * payload / 1e6,
            "radio with an OpenEarable's packets, MB": _HOUR_S * framed / 1e6,
        }
    )
