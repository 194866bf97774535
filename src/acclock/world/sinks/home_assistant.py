"""How Home Assistant learns about a session over MQTT: topics, discovery and states."""

import hashlib
import json
from dataclasses import dataclass

from acclock.errors import ConfigError
from acclock.session.events import State, Status
from acclock.world.sinks.facts import as_json, printable, status_facts

EXPIRE_AFTER_S = 10
"""Without news for so long, Home Assistant takes the sensors for unavailable."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Topics:
    """Where things are published. Names of people are in no topic."""

    identifier: str
    prefix: str = "homeassistant"

    def __post_init__(self) -> None:
        if not self.prefix or any(c in "+#\0 " or not c.isprintable() for c in self.prefix):
            raise ConfigError(f"{self.prefix!r} is not a prefix of MQTT topics")

    @property
    def config(self) -> str:
        return f"{self.prefix}/device/{self.identifier}/config"

    @property
    def birth(self) -> str:
        """Where Home Assistant says that it has started and wants to hear everything again."""
        return f"{self.prefix}/status"

    @property
    def state(self) -> str:
        return f"acclock/{self.identifier}/state"

    @property
    def availability(self) -> str:
        return f"acclock/{self.identifier}/availability"


def identify(status: Status) -> str:
    """Give a short name for this person's lock on this device, which gives neither away."""
    both = f"{status.person}\0{status.device}".encode("utf-8", "replace")
    return "acclock_" + hashlib.sha256(both).hexdigest()[:12]


def discovery(status: Status, topics: Topics) -> str:
    """Give the one message that makes a device with its sensors in Home Assistant."""
    shared = {"expire_after": EXPIRE_AFTER_S}
    components: dict[str, dict[str, object]] = {
        "lock": {
            "platform": "binary_sensor",
            "name": "Lock",
            "device_class": "lock",  # on means unlocked
            "value_template": "{{ value_json.state }}",
            "payload_on": "unlocked",
            "payload_off": "locked",
            "json_attributes_topic": topics.state,
        },
        "heart_rate": {
            "platform": "sensor",
            "name": "Heart rate",
            "icon": "mdi:heart-pulse",
            "unit_of_measurement": "bpm",
            "state_class": "measurement",
            "value_template": "{{ value_json.heart_rate_bpm }}",
        },
        "confidence": {
            "platform": "sensor",
            "name": "Confidence",
            "device_class": "enum",
            "options": ["low", "medium", "high"],
            "value_template": "{{ value_json.confidence }}",
        },
    }
    return json.dumps(
        {
            "device": {
                "identifiers": [topics.identifier],
                "name": f"AccLock {printable(status.person)}",
                "manufacturer": "AccLock",
                "model": printable(status.device),
            },
            "origin": {"name": "acclock"},
            "components": {
                name: component | shared | {"unique_id": f"{topics.identifier}_{name}"}
                for name, component in components.items()
            },
            "state_topic": topics.state,
            "availability_topic": topics.availability,
            "qos": 1,
        }
    )


def state_message(status: Status, state: State) -> str:
    """Give how the session stands."""
    return as_json(status_facts(status) | {"state": state})
