"""Sources by the text that a user types: ``kind:what?option=value``."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from urllib.parse import parse_qsl

from acclock.errors import ConfigError
from acclock.sources.source import Source

Options = Mapping[str, str]

# Sources are imported when one is asked for: each brings a library that others do without.


def parse_source(text: str) -> Source:
    """Open the source that a text names; nothing is connected before its stream is read.

    >>> parse_source("simulate:wear anna 60 s, remove 10 s?speed=4").name
    'simulator'
    """
    kind, colon, rest = text.partition(":")
    known = _KINDS.get(kind)
    if not text:
        raise ConfigError(f"no source was named; there are {', '.join(_KINDS)}")
    if known is None:
        near = get_close_matches(kind, _KINDS, n=1, cutoff=0.5)
        hint = f"; did you mean '{near[0]}:'?" if near else ""
        raise ConfigError(f"'{kind}:' is not a source; there are {', '.join(_KINDS)}{hint}")
    what, _, query = rest.rpartition("?") if "?" in rest else (rest, "", "")
    options = dict(parse_qsl(query, keep_blank_values=True))
    if strange := set(options) - set(known.options):
        raise ConfigError(
            f"'{kind}:' has no option {', '.join(sorted(strange))}; "
            f"it has {', '.join(known.options) or 'none'}"
        )
    if not colon or not what.strip("/"):
        raise ConfigError(f"'{kind}:' needs more: {known.example}")
    return known.open(what, options)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kind:
    open: Callable[[str, Options], Source]
    example: str
    options: tuple[str, ...] = ()


def _open_replay(what: str, options: Options) -> Source:
    from acclock.sources.replay import ReplaySource

    return ReplaySource.of(what, speed=_speed(options), loop=_flag(options, "loop"))


def _open_simulator(what: str, options: Options) -> Source:
    from acclock.sources.simulator import SimulatorSource

    return SimulatorSource(
        what,
        speed=_speed(options),
        loop=_flag(options, "loop"),
        seed=int(_number(options, "seed", 0.0)),
        rate_hz=_number(options, "rate", 100.0),
    )


def _open_websocket(scheme: str) -> Callable[[str, Options], Source]:
    def open_url(what: str, options: Options) -> Source:
        from acclock.sources.websocket import WebSocketSource

        return WebSocketSource(f"{scheme}:{what}", rate_hz=_number(options, "rate", 100.0))

    return open_url


def _open_websocket_server(what: str, options: Options) -> Source:
    from acclock.sources.websocket import WebSocketServerSource

    host, port = _address(what.removeprefix("//"), usual_port=8765)
    rate_hz = _number(options, "rate", 100.0)
    return WebSocketServerSource(host, port, rate_hz=rate_hz, token=options.get("token"))


def _open_sensor_logger(what: str, options: Options) -> Source:
    from acclock.sources.sensor_logger import SensorLoggerSource

    if what.startswith("mqtt://"):
        return _open_mqtt(what.removeprefix("mqtt:"), options)
    if not what.startswith("http://"):
        raise ConfigError(f"'{what}' is neither http://host:port nor mqtt://host/topic")
    host, port = _address(what.removeprefix("http://"), usual_port=8000)
    rate_hz = _number(options, "rate", 25.0)
    return SensorLoggerSource(host, port, rate_hz=rate_hz, token=options.get("token"))


def _open_mqtt(what: str, options: Options) -> Source:
    from acclock.sources.mqtt import MqttSource

    where, _, topic = what.removeprefix("//").partition("/")
    if not where or not topic:
        raise ConfigError(f"'mqtt:{what}' needs a host and a topic: mqtt://host/topic")
    host, port = _address(where, usual_port=1883)
    return MqttSource(host, port, topic, rate_hz=_number(options, "rate", 25.0))


def _open_open_earable(what: str, options: Options) -> Source:
    from acclock.sources.bluetooth import BluetoothSource, find_bleak
    from acclock.sources.open_earable import SENSORS, OpenEarable

    sensor = SENSORS.get(options.get("sensor", "bone"))
    if sensor is None:
        raise ConfigError(f"sensor is {' or '.join(SENSORS)}, not '{options['sensor']}'")
    return BluetoothSource(lambda: OpenEarable(sensor), find_bleak(what))


def _open_esense(what: str, options: Options) -> Source:
    from acclock.sources.bluetooth import BluetoothSource, find_bleak
    from acclock.sources.esense import ESense

    rate_hz = _number(options, "rate", 100.0)
    return BluetoothSource(lambda: ESense(rate_hz), find_bleak(what))


_KINDS: dict[str, _Kind] = {
    "replay": _Kind(
        open=_open_replay, options=("speed", "loop"), example="replay:session.npz?speed=4&loop"
    ),
    "simulate": _Kind(
        open=_open_simulator,
        options=("speed", "loop", "seed", "rate"),
        example="simulate:wear anna 60 s, remove 10 s, wear ben 60 s",
    ),
    "ws": _Kind(open=_open_websocket("ws"), options=("rate",), example="ws://127.0.0.1:8765"),
    "wss": _Kind(open=_open_websocket("wss"), options=("rate",), example="wss://host/stream"),
    "ws-server": _Kind(
        open=_open_websocket_server,
        options=("rate", "token"),
        example="ws-server:127.0.0.1:8765",
    ),
    "sensor-logger": _Kind(
        open=_open_sensor_logger,
        options=("rate", "token"),
        example="sensor-logger:http://0.0.0.0:8000",
    ),
    "mqtt": _Kind(open=_open_mqtt, options=("rate",), example="mqtt://host/topic"),
    "openearable": _Kind(
        open=_open_open_earable,
        options=("sensor",),
        example="openearable:AA:BB:CC:DD:EE:FF?sensor=bone",
    ),
    "esense": _Kind(open=_open_esense, options=("rate",), example="esense:AA:BB:CC:DD:EE:FF"),
}


def _address(text: str, *, usual_port: int) -> tuple[str, int]:
    host, colon, port = text.rstrip("/").rpartition(":")
    if not colon:
        return text.rstrip("/"), usual_port
    if not port.isdecimal() or not 0 <= int(port) < 65536 or not host:
        raise ConfigError(f"'{text}' is not host:port")
    return host.strip("[]"), int(port)


def _speed(options: Options) -> float:
    return float("inf") if options.get("speed") == "max" else _number(options, "speed", 1.0)


def _flag(options: Options, name: str) -> bool:
    return options.get(name, "no") in ("", "yes", "true", "1")


def _number(options: Options, name: str, usual: float) -> float:
    try:
        number = float(options.get(name, usual))
    except ValueError:
        number = float("nan")
    if not 0 <= number < 1e6:
        raise ConfigError(f"{name} is a number, not '{options[name]}'")
    return number
