"""Which streams are traced: who wears the earphone from when, what opens the session, what breaks.

Plain data. ``acts`` are written as for ``acclock monitor --source simulator:...``; the user is
``person-000``, everybody else a stranger. After a semicolon somebody else wears the earphone
without a hand in between. The service takes the streams of a group together.
"""

from dataclasses import dataclass
from math import inf
from typing import Literal

from tests.golden.frames import Damage

USER = "wear person-000"
STRANGER = "wear person-001"


@dataclass(frozen=True, kw_only=True)
class Played:
    """Some seconds of a real recording."""

    dataset: str
    person: str
    session: str
    for_s: float


@dataclass(frozen=True, kw_only=True)
class Script:
    """One stream from its beginning to its end, and what happens beside it."""

    name: str
    acts: str | tuple[Played, ...]
    user: tuple[str, str, tuple[str, ...]] | None = None
    """Data set, person and sessions of which a real user was enrolled; else it is person-000."""
    policy: str = "balanced"
    entry: Literal["grant", "heartbeat"] = "grant"
    grants: tuple[tuple[float, float], ...] = ((12.0, inf),)
    """When another factor opens the session, and for how long."""
    damages: tuple[Damage, ...] = ()
    deleted_s: float | None = None
    """When the user is removed from the vault."""
    rate_hz: float = 100.0


def _heartbeat(name: str, acts: str, policy: str = "balanced", *damages: Damage) -> Script:
    """Open by the heartbeat alone."""
    return Script(
        name=name, acts=acts, policy=policy, entry="heartbeat", grants=(), damages=damages
    )


def _damaged(name: str, *damages: Damage, policy: str = "balanced", rest_s: float = 20.0) -> Script:
    """Damage the stream of a user who does nothing but wear the earphone."""
    return Script(name=name, acts=f"{USER} {30.0 + rest_s:g} s", policy=policy, damages=damages)


def _by_policy(name: str, acts: str, **options: object) -> tuple[Script, ...]:
    policies = ("strict", "balanced", "comfortable")
    return tuple(
        Script(name=f"{name}, {policy}", acts=acts, policy=policy, **options)  # type: ignore[arg-type]
        for policy in policies
    )


WEARING = (
    *_by_policy("the user wears it", f"{USER} 60 s"),
    *_by_policy("the user takes it out", f"{USER} 35 s, remove 10 s"),
    *_by_policy("a stranger takes over", f"{USER} 35 s, {STRANGER} 40 s"),
    *_by_policy("a stranger takes over unnoticed", f"{USER} 35 s; {STRANGER} 40 s"),
    *_by_policy("a stranger with a grant", f"{STRANGER} 40 s", grants=((9.5, inf),)),
    Script(name="another stranger with a grant", acts="wear person-002 40 s", grants=((9.5, inf),)),
    Script(name="other strangers take over unnoticed", acts=f"{USER} 30 s; wear person-003 40 s"),
    Script(name="nothing opens it", acts=f"{USER} 40 s", grants=()),
    Script(name="the grant comes before the wearing", acts=f"{USER} 30 s", grants=((1.0, inf),)),
    Script(
        name="the grant waits for the wearing",
        acts=f"remove 20 s, {USER} 40 s",
        grants=((18.5, inf),),
    ),
    Script(
        name="the grant finds it on a table",
        acts=f"remove 20 s, {USER} 20 s",
        grants=((5.0, inf),),
    ),
    Script(name="the grant expires", acts=f"{USER} 50 s", grants=((12.0, 25.0),)),
    Script(name="the grant is renewed", acts=f"{USER} 60 s", grants=((12.0, 20.0), (25.0, 20.0))),
    Script(
        name="taken out and granted again",
        acts=f"{USER} 30 s, remove 8 s, {USER} 40 s",
        grants=((12.0, inf), (52.0, inf)),
    ),
    Script(name="it lies on a table", acts="remove 40 s"),
    Script(name="the user is removed", acts=f"{USER} 45 s", deleted_s=30.3),
    Script(name="a long wearing", acts=f"{USER} 200 s"),
    Script(name="at 200 Hz", acts=f"{USER} 40 s, remove 6 s", rate_hz=200.0),
    Script(name="at 80 Hz", acts=f"{USER} 40 s, remove 6 s", rate_hz=80.0),
)

MOTION = (
    *_by_policy("the user walks", f"{USER} 30 s, person-000 walks 40 s, person-000 sits 30 s"),
    *_by_policy("the user walks far", f"{USER} 30 s, person-000 walks 80 s, person-000 sits 30 s"),
    *_by_policy("walking confirms nothing", "person-000 walks 110 s"),
    Script(name="the user talks", acts=f"{USER} 30 s, person-000 talks 40 s"),
    Script(name="the user shakes the head", acts=f"{USER} 30 s, person-000 shakes 40 s"),
    Script(name="the user blinks", acts=f"{USER} 20 s, person-000 blinks 30 s"),
    Script(name="the user runs", acts=f"{USER} 30 s, person-000 runs 15 s, person-000 sits 40 s"),
    Script(name="taken out while walking", acts=f"{USER} 30 s, person-000 walks 10 s, remove 10 s"),
    Script(
        name="a stranger walks on", acts=f"{USER} 30 s, person-001 walks 30 s, person-001 sits 30 s"
    ),
    _heartbeat("the heartbeat opens, strict", f"{USER} 70 s, remove 6 s", "strict"),
    _heartbeat("the heartbeat opens", f"{USER} 70 s, remove 6 s, {USER} 60 s"),
    _heartbeat("the heartbeat opens, comfortable", f"{USER} 70 s, {STRANGER} 40 s", "comfortable"),
    _heartbeat("the heartbeat of strangers", f"{STRANGER} 60 s, wear person-002 60 s"),
    _heartbeat(
        "too many strangers",
        "wear person-001 30 s, remove 6 s, wear person-002 36 s, remove 6 s, wear person-003 36 s, "
        f"remove 6 s, wear person-004 36 s, remove 6 s, {USER} 70 s",
    ),
    _heartbeat("the heartbeat while walking", "person-000 walks 40 s, person-000 sits 50 s"),
    _heartbeat("the heartbeat of a loop", f"{USER} 70 s", "balanced", Damage("loop", 0.0, size=4)),
    _heartbeat("the heartbeat after a gap", f"{USER} 80 s", "balanced", Damage("gap", 20.0, 3.0)),
)

DAMAGE = (
    _damaged("a short gap", Damage("gap", 30.0, 0.5)),
    _damaged("a gap", Damage("gap", 30.0, 1.5)),
    _damaged("a long gap", Damage("gap", 30.0, 5.0)),
    _damaged("a long gap, strict", Damage("gap", 30.0, 5.0), policy="strict"),
    _damaged("a long gap, comfortable", Damage("gap", 30.0, 5.0), policy="comfortable"),
    _damaged("nothing more comes", Damage("gap", 30.0, 19.9)),
    _damaged("few frames are lost", Damage("loss", 20.0, 20.0, 0.1)),
    _damaged("many frames are lost", Damage("loss", 25.0, 20.0, 0.5)),
    _damaged("a short stall", Damage("stall", 30.0, 0.8)),
    _damaged("a stall", Damage("stall", 30.0, 1.5)),
    _damaged("a long stall", Damage("stall", 30.0, 4.0)),
    _damaged("late from now on", Damage("late", 30.0, size=1.5)),
    _damaged("a little late from now on", Damage("late", 30.0, size=0.6)),
    _damaged("the radio is a little unsteady", Damage("jitter", 10.0, size=0.09)),
    _damaged("the radio is unsteady", Damage("jitter", 10.0, size=0.25)),
    _damaged("a short flood", Damage("flood", 30.0, 1.5)),
    _damaged("a flood", Damage("flood", 30.0, 3.0)),
    _damaged("a long flood", Damage("flood", 30.0, 10.0)),
    _damaged("frames change places", Damage("swapped", 30.0, 5.0)),
    _damaged("frames are repeated", Damage("repeated", 20.0, 20.0)),
    _damaged("frames of another connection", Damage("renumbered", 30.0, 2.0, 2.0**20)),
    _damaged("numbers jump ahead", Damage("renumbered", 30.0, size=200.0)),
    _damaged("one frame is cut short", Damage("cut", 30.0, 0.1)),
    _damaged("frames are cut short", Damage("cut", 30.0, 3.0)),
    _damaged("one frame is garbled", Damage("flipped", 30.0, 0.1)),
    _damaged("text comes in between", Damage("text", 30.0, 0.3)),
    _damaged("the bud says that it is out", Damage("removed", 30.0, 0.1)),
    _damaged("some samples are no numbers", Damage("nan", 30.0, 0.3)),
    _damaged("samples are no numbers", Damage("nan", 30.0, 3.0)),
    _damaged("samples are infinite", Damage("infinite", 30.0, 1.2)),
    _damaged("samples are too strong", Damage("strong", 30.0, 3.0)),
    _damaged("samples are zero", Damage("zero", 30.0, 6.0)),
    _damaged("the sensor is stuck", Damage("stuck", 30.0, 6.0)),
    _damaged("the sensor saturates", Damage("clipped", 30.0, size=5.0)),
    _damaged("the sensor exaggerates", Damage("amplified", 30.0, size=1.8)),
    _damaged("a loop of four seconds", Damage("loop", 25.0, size=4.0)),
    _damaged("a knock", Damage("knock", 30.0, 1.0, 40.0)),
    _damaged("a light knock", Damage("knock", 30.0, 1.0, 16.0)),
    _damaged("a knock too light to matter", Damage("knock", 30.0, 1.0, 10.0)),
    _damaged("the bud is turned", Damage("turned", 30.0)),
    _damaged("half of the samples", Damage("halved", 30.0, 5.0)),
    _damaged("the device's clock jumps ahead", Damage("device clock", 30.0, size=60.0)),
    _damaged("the device's clock jumps back", Damage("device clock", 30.0, size=-25.0)),
    _damaged("the device's clock slips", Damage("device clock", 30.0, size=0.3)),
    _damaged("the device's clock runs fast", Damage("drift", 5.0, size=0.01)),
    _damaged("the device's clock runs too fast", Damage("drift", 5.0, size=0.15)),
    _damaged("the process hiccups", Damage("frozen", 30.0, 0.4)),
    _damaged("the process is frozen", Damage("frozen", 30.0, 1.3)),
    _damaged("the process is frozen for long", Damage("frozen", 30.0, 6.0)),
    _damaged("decisions hiccup", Damage("busy", 30.0, 0.6)),
    _damaged("decisions take too long", Damage("busy", 30.0, 1.3)),
    _damaged("decisions hang", Damage("busy", 30.0, 5.0)),
    _damaged("something else fails", Damage("failure", 30.0)),
    _damaged("one window takes long", Damage("slow model", 30.0, 0.4, 0.7)),
    _damaged("one window takes too long", Damage("slow model", 30.0, 0.4, 1.3)),
    _damaged("all windows take long", Damage("slow model", 30.0, 10.0, 0.7)),
    Script(
        name="the radio is gone and comes back",
        acts=f"{USER} 30 s, disconnect 2 s, {USER} 25 s",
    ),
    Script(
        name="the radio comes back with a grant",
        acts=f"{USER} 20 s, disconnect 3 s, {USER} 40 s",
        grants=((12.0, inf), (36.0, inf)),
    ),
    Script(name="the radio loses much", acts=f"{USER} 30 s, lose 3 s, {USER} 25 s"),
)


def _play(person: str, session: int, for_s: float) -> Played:
    return Played(dataset="mscardio", person=person, session=f"Recording_{session:03}", for_s=for_s)


_CHEST = ("mscardio", "Subject_0003", ("Recording_001", "Recording_002"))
_OTHER_CHEST = ("mscardio", "Subject_0014", ("Recording_001", "Recording_002"))
_GLASSES = ("classyglass", "1A-User1", ("1", "3"))

REAL = (
    Script(name="a real user", user=_CHEST, acts=(_play("Subject_0003", 3, 80.0),)),
    Script(
        name="a real user, strict",
        user=_CHEST,
        policy="strict",
        acts=(_play("Subject_0003", 4, 80.0),),
    ),
    Script(name="another real user", user=_OTHER_CHEST, acts=(_play("Subject_0014", 4, 80.0),)),
    Script(
        name="a real stranger",
        user=_CHEST,
        acts=(_play("Subject_0014", 3, 60.0),),
        grants=((9.5, inf),),
    ),
    Script(
        name="a real stranger takes over",
        user=_CHEST,
        acts=(_play("Subject_0003", 5, 45.0), _play("Subject_0001", 3, 40.0)),
    ),
    Script(
        name="another real stranger takes over",
        user=_OTHER_CHEST,
        acts=(_play("Subject_0014", 6, 45.0), _play("Subject_0001", 3, 40.0)),
    ),
    Script(
        name="a real heart opens",
        user=_OTHER_CHEST,
        policy="comfortable",
        entry="heartbeat",
        grants=(),
        acts=(_play("Subject_0014", 5, 90.0),),
    ),
    Script(
        name="a real user behind a gap",
        user=_OTHER_CHEST,
        acts=(_play("Subject_0014", 7, 70.0),),
        damages=(Damage("gap", 35.0, 2.0),),
    ),
    Script(
        name="real glasses",
        user=_GLASSES,
        acts=(
            Played(dataset="classyglass", person="1A-User1", session="4", for_s=50.0),
            Played(dataset="classyglass", person="1A-User1", session="9", for_s=30.0),
        ),
    ),
)

GROUPS: dict[str, tuple[Script, ...]] = {
    "wearing": WEARING,
    "motion": MOTION,
    "damage": DAMAGE,
    "real": REAL,
}
