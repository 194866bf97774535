"""The dashboard in a real Chromium, against a real service: nothing is feigned but a radio."""

import asyncio
import os
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from acclock.matching.coaching import push
from acclock.recordings import read
from acclock.service.api import app as service_app
from acclock.service.client import StreamClient
from acclock.service.streams.enrolling import StreamEnrollment
from acclock.simulation import Scene, draw_person, simulate
from acclock.sources.frames import decode, encode

if TYPE_CHECKING:
    from tests.service.conftest import Running

CHROMIUM = Path("/usr/bin/chromium")
ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--enable-features=WebBluetooth",
]
SHORT_MS, LONG_MS = 10_000, 60_000
PAGES = ["Now", "Enroll", "Try it", "People", "Devices", "Policies", "Audit"]
PHONE, RECOGNIZER = {"width": 360, "height": 780}, {"width": 1180, "height": 960}
STATIC = Path(service_app.__file__).parents[1] / "dashboard"
MEANT = ("status of 401", "status of 403", "status of 422", "net::ERR_FAILED")
"""What the browser says of answers that a test meant to get."""

Shoot = Callable[[Page, str, float], None]


@pytest.fixture(scope="module")
def browser(absent: Callable[[str], NoReturn]) -> Iterator[Browser]:
    if not CHROMIUM.exists():
        absent("there is no browser (Debian: chromium)")
    expect.set_options(timeout=SHORT_MS)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def page(browser: Browser, running: "Running") -> Iterator[Page]:
    """A page of the dashboard, about which the browser may have nothing to complain."""
    context = browser.new_context(base_url=running.url, viewport=RECOGNIZER)  # type: ignore[arg-type]
    page = context.new_page()
    complaints: list[str] = []
    page.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.set_default_timeout(SHORT_MS)
    yield page
    context.close()
    assert [one for one in complaints if not any(words in one for words in MEANT)] == []


@pytest.fixture
def shoot(tmp_path: Path) -> Shoot:
    """Take a picture after a while; ACCLOCK_SCREENSHOTS names the folder where they are kept.

    Only pictures that are kept are worth waiting for.
    """
    kept = os.environ.get("ACCLOCK_SCREENSHOTS")
    folder = Path(kept or tmp_path)

    def take(page: Page, name: str, after_s: float) -> None:
        page.wait_for_timeout(1000 * after_s if kept else 0)
        page.evaluate("scrollTo(0, 0)")
        end = page.evaluate("document.querySelector('main').getBoundingClientRect().bottom")
        width = page.evaluate("innerWidth")
        page.screenshot(
            path=folder / f"dashboard-{name}.png",
            full_page=True,
            clip={"x": 0, "y": 0, "width": width, "height": end},
        )

    return take


def log_in(page: Page, token: str) -> None:
    page.goto("/")
    page.get_by_label("Token").fill(token)
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("heading", name="Now")).to_be_visible()


def go(page: Page, name: str) -> None:
    page.get_by_role("navigation").get_by_role("link", name=name).click()
    expect(page.get_by_role("heading", name=name, level=1)).to_be_focused()


def begin_enrollment(page: Page, name: str, source: str) -> None:
    go(page, "Enroll")
    page.get_by_label("Name").fill(name)
    page.get_by_label("They agreed").check()
    page.get_by_role("button", name="Next").click()
    page.get_by_label("Source").select_option(source)
    page.get_by_role("button", name="Begin").click()


def delete(page: Page, name: str) -> None:
    go(page, "People")
    page.get_by_role("button", name=f"Delete {name}").click()
    page.get_by_role("dialog").get_by_role("button", name=f"Delete {name}").click()
    expect(page.get_by_role("rowheader", name=name)).to_have_count(0)


@contextmanager
def wearing(running: "Running", person: str) -> Iterator[None]:
    """Let an earphone of a person stream from elsewhere, for as long as this lasts."""
    token, done, samples = running.token("device", person), threading.Event(), running.later.samples

    async def stream() -> None:
        async with StreamClient(running.ws, token, person=person, device="left bud") as client:
            for start in range(0, samples.shape[1], 50):
                part = samples[:, start : start + 50]
                await client.send(part, time_us=start * 10_000, period_us=10_000)
                if await asyncio.to_thread(done.wait, 0.5):
                    return

    thread = threading.Thread(target=lambda: asyncio.run(stream()))
    thread.start()
    yield
    done.set()
    thread.join(SHORT_MS / 1000)


def test_the_lock_opens_for_the_user_and_falls_for_another(
    page: Page, running: "Running", shoot: Shoot
) -> None:
    log_in(page, running.token("operator"))
    begin_enrollment(page, "Ada", "recorded:ada")
    expect(page.get_by_role("heading", name="Ada is enrolled")).to_be_visible(timeout=LONG_MS)
    go(page, "Try it")
    page.get_by_label("Whose session").select_option("Ada")
    page.get_by_role("button", name="Start streaming").click()
    page.get_by_role("button", name="Open with another factor").click()
    state = page.locator(".state .word")
    expect(state).to_have_text("Unlocked", timeout=LONG_MS)
    with wearing(running, "anna"):
        look_at_the_board(page, shoot)
    go(page, "Try it")

    page.get_by_role("button", name="Ben", exact=True).click()

    expect(state).to_have_text("Locked", timeout=LONG_MS)
    expect(page.locator("#spoken")).to_contain_text("Ada is locked")
    expect(page.locator(".changes")).to_contain_text("locked: the heartbeat is not the user's")
    shoot(page, "swapped", 3.0)
    delete(page, "Ada")
    with running.client(running.token("operator")) as operator:
        assert operator.get("/v1/people/Ada").status_code == 404
        deadline = time.monotonic() + 10.0  # the log of the vault is followed, not awaited
        while operator.get("/v1/sessions").json()["sessions"] and time.monotonic() < deadline:
            time.sleep(0.2)
        assert operator.get("/v1/sessions").json()["sessions"] == []


def look_at_the_board(page: Page, shoot: Shoot) -> None:
    go(page, "Now")
    cards = page.get_by_role("list", name="Live sessions").get_by_role("button")
    expect(cards).to_have_text([re.compile("Ada"), re.compile("anna.*left bud.*Locked")])
    cards.first.click()
    expect(page.locator(".session .levels")).to_have_text("high", timeout=LONG_MS)
    expect(page.locator(".figures")).to_contain_text("bpm")
    shoot(page, "light", 3.0)
    page.emulate_media(color_scheme="dark")
    shoot(page, "dark", 0.7)  # the next trace is drawn in the new colors
    page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    shoot(page, "phone", 0.7)
    page.set_viewport_size(RECOGNIZER)  # type: ignore[arg-type]
    page.emulate_media(color_scheme="light")


def gather_most(running: "Running") -> None:
    """Put windows into the enrollment that would take two minutes to come."""
    (listener,) = running.service.engine._listeners.values()
    assert isinstance(listener, StreamEnrollment)
    embed, samples = listener.model.embed, running.later.samples
    for start in range(0, 350, 10):
        (embedding,) = embed(samples[np.newaxis, :, start : start + 400])
        listener.enrollment = push(listener.enrollment, embedding)


def test_an_enrollment_coaches_and_ends_when_there_is_enough(
    page: Page, running: "Running", shoot: Shoot
) -> None:
    log_in(page, running.token("operator"))
    begin_enrollment(page, "Cleo", "live:cleo")
    expect(page.get_by_text("Wait a moment.")).to_be_visible()
    expect(page.get_by_role("button", name="Finish")).to_be_disabled()
    gather_most(running)

    expect(page.get_by_text(re.compile("3. of 80 good windows"))).to_be_visible()
    shoot(page, "enroll", 0.0)
    page.get_by_role("button", name="Finish").click()

    expect(page.get_by_role("heading", name="Cleo is enrolled")).to_be_visible()
    delete(page, "Cleo")


def test_a_recording_that_is_none_is_refused_where_it_was_chosen(
    page: Page, running: "Running", tmp_path: Path
) -> None:
    letter = tmp_path / "letter.txt"
    letter.write_text("Dear Anna")
    log_in(page, running.token("operator"))
    begin_enrollment(page, "Nobody", "file")
    expect(page.get_by_role("alert")).to_have_text("Choose a recording first.")

    page.get_by_label("Recording").set_input_files(letter)
    page.get_by_role("button", name="Begin").click()

    expect(page.get_by_role("alert")).to_have_text(re.compile(r".{20,}\."))
    expect(page.get_by_label("Source")).to_be_visible()


def test_a_cancelled_enrollment_stores_nobody(page: Page, running: "Running") -> None:
    log_in(page, running.token("operator"))
    begin_enrollment(page, "Nobody", "live:ben")

    page.get_by_role("button", name="Cancel").click()

    expect(page.get_by_label("Source")).to_be_visible()
    go(page, "People")
    expect(page.get_by_role("rowheader", name="anna")).to_be_visible()
    expect(page.get_by_role("rowheader", name="Nobody")).to_have_count(0)


def test_a_token_that_is_none_or_a_devices_is_refused_in_words(
    page: Page, running: "Running"
) -> None:
    page.goto("/")
    page.get_by_label("Token").fill("acclock_" + "x" * 43)
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("token")

    page.get_by_label("Token").fill(running.token("device", "anna"))
    page.keyboard.press("Enter")

    expect(page.get_by_role("alert")).to_contain_text("for a device")
    assert page.evaluate("sessionStorage.length") == 0


def test_a_viewer_sees_and_changes_nothing(page: Page, running: "Running") -> None:
    log_in(page, running.token("viewer"))

    for name in ("Enroll", "Try it", "Devices", "Audit"):
        go(page, name)
        expect(page.locator("main")).to_contain_text("operator")
        expect(page.locator("main button")).to_have_count(0)
    go(page, "People")

    expect(page.get_by_role("rowheader", name="anna")).to_be_visible()
    expect(page.locator("main button")).to_have_count(0)


@pytest.mark.parametrize(("wearer", "answer"), [("ada", "accept"), ("cleo", "reject")])
def test_a_recording_is_checked_against_anna(
    page: Page, running: "Running", wearer: str, answer: str
) -> None:
    log_in(page, running.token("operator"))
    go(page, "People")

    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Check a recording against anna").click()
    chooser.value.set_files(STATIC / "wearers" / f"{wearer}-2.oe")

    expect(page.locator(".told")).to_contain_text(f"{wearer}-2.oe: {answer}", timeout=LONG_MS)


def test_all_that_is_stored_about_somebody_is_theirs_to_have(
    page: Page, running: "Running"
) -> None:
    log_in(page, running.token("operator"))
    go(page, "People")

    with page.expect_download() as download:
        page.get_by_role("button", name="Export all that is stored about ben").click()

    assert download.value.suggested_filename == "ben.json"
    assert "ben" in download.value.path().read_text()


def test_a_recording_of_ones_own_is_streamed_if_it_can_be_read(
    page: Page, running: "Running", tmp_path: Path
) -> None:
    letter = tmp_path / "letter.txt"
    letter.write_text("Dear Anna")
    log_in(page, running.token("operator"))
    go(page, "Try it")
    page.get_by_label("Who wears it").select_option("uploaded")
    page.get_by_label("Recording").set_input_files(letter)
    page.get_by_role("button", name="Start streaming").click()
    expect(page.get_by_role("alert")).to_contain_text("columns time, x, y, z")

    page.get_by_label("Recording").set_input_files(STATIC / "wearers" / "cleo-2.oe")
    page.get_by_role("button", name="Start streaming").click()

    expect(page.get_by_text("Your recording plays")).to_be_visible()
    expect(page.locator(".window")).to_contain_text("listening has only just begun")
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_role("button", name="Start streaming")).to_be_visible()


def test_a_board_that_hears_nothing_says_so(page: Page, running: "Running") -> None:
    page.route("**/v1/events*", lambda route: route.abort())

    log_in(page, running.token("viewer"))

    expect(page.locator("main")).to_contain_text("nobody is vouched for")
    page.unroute("**/v1/events*")
    expect(page.locator("main")).to_contain_text("0 live sessions")


def test_a_token_is_made_shown_once_and_revoked(page: Page, running: "Running") -> None:
    log_in(page, running.token("operator"))
    go(page, "Devices")
    page.get_by_label("Person").select_option("anna")
    page.get_by_label("Note").fill("left bud")
    page.get_by_role("button", name="Make it").click()
    expect(page.locator("output")).to_have_text(re.compile("acclock_.+"))
    secret = page.locator("output").text_content()
    with running.client(secret) as device:
        assert device.get("/v1/people/anna/state").status_code == 200

        page.get_by_role("button", name="Revoke left bud").click()
        page.get_by_role("dialog").get_by_role("button", name="Revoke").click()

        expect(page.get_by_role("rowheader", name="left bud")).to_have_count(0)
        assert device.get("/v1/people/anna/state").status_code == 401


FAULTS = """() => {
    const seen = (one) => one.checkVisibility();
    const all = (wanted) => [...document.querySelectorAll(wanted)].filter(seen);
    const nameless = all(":is(input, select, button, canvas, a, dialog[open])").filter((one) =>
        !one.labels?.length && !one.ariaLabel && one.ariaHidden !== "true"
        && !one.getAttribute("aria-labelledby") && !one.textContent.trim());
    const levels = all("h1, h2, h3").map((one) => Number(one.tagName[1]));
    const jumps = levels.filter((level, at) => level > (levels[at - 1] ?? 0) + 1);
    const ids = [...document.querySelectorAll("[id]")].map((one) => one.id);
    const targets = [...document.querySelectorAll("[aria-describedby], [aria-labelledby], [for]")]
        .flatMap((one) => ["aria-describedby", "aria-labelledby", "for"].map(
            (name) => one.getAttribute(name))).filter((id) => id && !ids.includes(id));
    const cells = all("table").filter((one) => !one.querySelector("caption, th[scope]"));
    const small = all("main :is(button, select, input:not([type=checkbox]))").filter(
        (one) => one.ariaHidden !== "true" && one.getBoundingClientRect().height < 24);
    const tabs = all("[tabindex]").filter((one) => one.tabIndex > 0);
    return {
        nameless: nameless.map((one) => one.outerHTML), jumps, targets,
        twice: ids.filter((id, at) => ids.indexOf(id) !== at),
        untitled: cells.length, small: small.map((one) => one.outerHTML), tabs: tabs.length,
        styled: document.querySelectorAll("[style]").length,
        titles: all("h1").length - 1, mains: all("main").length - 1,
        wide: Math.max(0, document.scrollingElement.scrollWidth - innerWidth),
        mute: document.querySelectorAll("[aria-live=assertive], [role=alert]").length ? 0 : 1,
    };
}"""
"""What a checker of accessibility would complain about, counted."""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_page_fits_a_phone_and_names_its_parts(
    page: Page,
    running: "Running",
    shoot: Shoot,
    scheme: Any,  # noqa: ANN401 - one of two words
) -> None:
    page.emulate_media(color_scheme=scheme)
    log_in(page, running.token("operator"))

    for size, where in ((PHONE, "phone"), (RECOGNIZER, "desk")):
        page.set_viewport_size(size)  # type: ignore[arg-type]
        for name in PAGES:
            go(page, name)
            page.wait_for_timeout(150)
            found = {fault: told for fault, told in page.evaluate(FAULTS).items() if told}
            assert found == {}, (name, where)
            shoot(page, f"{name.lower().replace(' ', '-')}-{where}-{scheme}", 0.3)


def test_a_page_may_use_bluetooth_and_nothing_else_of_the_machine(page: Page) -> None:
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.goto("/")

    allowed = set(page.evaluate("document.featurePolicy.allowedFeatures()"))

    assert "bluetooth" in allowed
    assert not allowed & {"camera", "microphone", "geolocation", "usb", "serial", "hid"}
    assert said == []


def test_who_wants_no_motion_sees_none(page: Page, running: "Running") -> None:
    page.emulate_media(reduced_motion="reduce")
    log_in(page, running.token("operator"))
    moving = """() => [...document.querySelectorAll("*")].filter((one) => {
        const style = getComputedStyle(one);
        return style.transitionDuration !== "0s" || style.animationName !== "none";
    }).length"""

    for name in PAGES:
        go(page, name)
        assert page.evaluate(moving) == 0, name


def test_the_keyboard_stays_where_it_was_when_a_stream_begins_and_ends(
    page: Page, running: "Running"
) -> None:
    log_in(page, running.token("operator"))
    go(page, "Try it")
    focused = page.locator("main :focus")

    page.get_by_role("button", name="Start streaming").press("Enter")
    expect(focused).to_have_text("Open with another factor")
    page.get_by_role("button", name="Stop").press("Enter")

    expect(page.get_by_role("button", name="Start streaming")).to_be_visible()
    expect(focused).to_have_count(1)


def test_the_keyboard_meets_everything_in_the_order_in_which_it_is_read(
    page: Page, running: "Running"
) -> None:
    log_in(page, running.token("operator"))
    go(page, "Devices")
    expect(page.get_by_role("button", name="Make it")).to_be_visible()
    met: list[list[float]] = []
    place = """() => {
        const one = document.activeElement, box = one.getBoundingClientRect();
        const outlined = getComputedStyle(one).outlineStyle === "solid";
        return one === document.body ? null : [box.top + scrollY, box.left, outlined];
    }"""

    page.evaluate("document.body.focus(), scrollTo(0, 0)")
    page.get_by_role("link", name="AccLock").focus()
    for _ in range(60):
        page.keyboard.press("Tab")
        if (now := page.evaluate(place)) is None:
            break
        met.append(now)

    assert len(met) > 12
    assert all(outlined for _, _, outlined in met)
    rows = [round(top / 40) for top, _, _ in met]
    assert rows == sorted(rows)


def test_the_keyboard_alone_logs_in_and_reaches_a_page(page: Page, running: "Running") -> None:
    page.goto("/")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    page.get_by_label("Token").focus()
    page.keyboard.type(running.token("operator"))
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Now")).to_be_focused()

    page.get_by_role("link", name="Audit").focus()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Tab")
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    page.keyboard.press("Enter")

    assert outline == "solid"
    expect(page.get_by_role("heading", name="Audit")).to_be_focused()
    expect(page.get_by_role("region", name="Events")).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_read_in(page: Page, scheme: Any) -> None:  # noqa: ANN401 - one of two words
    page.emulate_media(color_scheme=scheme)
    page.goto("/")

    for ground in ("ground", "panel"):
        for ink in ("ink", "muted", "accent", "unlocked", "locked"):
            assert contrast(page, ink, ground) >= 4.5, (ink, ground)
        assert contrast(page, "edge", ground) >= 3.0
    assert contrast(page, "on-accent", "accent") >= 4.5
    assert contrast(page, "unlocked", "unlocked-soft") >= 4.5
    assert contrast(page, "locked", "locked-soft") >= 4.5


def contrast(page: Page, one: str, other: str) -> float:
    """Give the contrast of two colors of the style sheet, as WCAG 2 defines it."""
    read_color = """name => getComputedStyle(document.documentElement)
        .getPropertyValue("--" + name).trim()"""
    bright, dim = sorted(
        (_luminance(page.evaluate(read_color, name)) for name in (one, other)), reverse=True
    )
    return (bright + 0.05) / (dim + 0.05)


def _luminance(color: str) -> float:
    parts = np.array([int(color[at : at + 2], 16) for at in (1, 3, 5)]) / 255.0
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def test_frames_of_the_page_are_those_of_python(page: Page) -> None:
    page.goto("/")
    samples = np.random.default_rng(3).normal(size=(3, 7)).astype(np.float32).astype(np.float64)

    made = page.evaluate(
        """async (rows) => {
            const { encodeFrame } = await import("/frames.js");
            const frame = { sequence: 4294967295, timeUs: 1700000000123456, periodUs: 10000 };
            return [...new Uint8Array(encodeFrame({ ...frame, samples: Float32Array.from(rows) }))];
        }""",
        samples.T.ravel().tolist(),
    )

    frame = encode(samples, sequence=2**32 - 1, time_us=1_700_000_000_123_456, period_us=10_000)
    assert bytes(made) == frame
    assert decode(bytes(made)).sequence == 2**32 - 1


def test_an_earphones_file_is_read_as_python_reads_it(page: Page) -> None:
    page.goto("/")

    got = page.evaluate(
        """async () => {
            const { readFile } = await import("/open_earable.js");
            const file = await (await fetch("/wearers/ada-2.oe")).arrayBuffer();
            const { rateHz, samples } = readFile(file);
            return { rateHz, count: samples.length / 3, samples: [...samples.slice(0, 3000)] };
        }"""
    )

    recording = read(STATIC / "wearers" / "ada-2.oe", rate_hz=100.0)
    assert got["rateHz"] == 100.0
    assert abs(got["count"] - recording.samples.shape[1]) <= 1
    first = np.reshape(got["samples"], (-1, 3)).T
    np.testing.assert_allclose(first, recording.samples[:, :1000], atol=1e-3, rtol=0)


@pytest.mark.parametrize("session", [0, 1])
def test_the_packaged_wearers_are_the_simulators(session: int) -> None:
    packed = read(STATIC / "wearers" / f"ben-{session + 1}.oe", rate_hz=100.0)

    scene = Scene(duration_s=(140.0, 70.0)[session], session=session, rate_hz=100.0)
    samples = simulate(draw_person(1), scene).recording.samples[:, : packed.samples.shape[1]]
    np.testing.assert_allclose(packed.samples, samples, atol=2e-3, rtol=0)


@pytest.mark.parametrize(
    ("head", "tick", "unit"),
    [
        ("time,x,y,z", 1.0, 9.80665),
        ("t;ax;ay;az", 1e3, 1.0),
        ("timestamp,acc_x,acc_y,acc_z", 1e9, 1000.0),
    ],
)
def test_a_table_is_played_in_its_own_unit(page: Page, head: str, tick: float, unit: float) -> None:
    page.goto("/")
    mark = ";" if ";" in head else ","
    rows = [mark.join(map(str, (at / 50.0 * tick, 0.0, 0.0, unit))) for at in range(300)]

    got = page.evaluate(
        """async (text) => {
            const { readTable } = await import("/recordings.js");
            const { rateHz, samples } = readTable(text);
            return [rateHz, samples.length / 3, samples[2]];
        }""",
        "\n".join([head, *rows]),
    )

    assert got == pytest.approx([50.0, 300, 9.80665], rel=1e-6)


def test_events_are_the_same_however_they_are_cut(page: Page) -> None:
    page.goto("/")
    text = ': still here\n\nevent: session\ndata: {"a": 1}\n\nevent: change\ndata: {"b": "ü"}\n\n'

    heard = page.evaluate(
        """async (text) => {
            const { EventParser } = await import("/events.js");
            return Array.from({ length: text.length }, (_, cut) => {
                const parser = new EventParser();
                return [...parser.push(text.slice(0, cut)), ...parser.push(text.slice(cut))];
            });
        }""",
        text,
    )

    whole = [{"kind": "session", "data": {"a": 1}}, {"kind": "change", "data": {"b": "ü"}}]
    assert all(events == whole for events in heard)


EARPHONE = """
    const wanted = (name) => name + "-34aa-11eb-adc1-0242ac120002";
    const device = Object.assign(new EventTarget(), { name: "OpenEarable-F00D" });
    class Data extends EventTarget {
        async startNotifications() {
            const file = await (await fetch("/wearers/ben-2.oe")).arrayBuffer();
            let at = 10;
            const timer = setInterval(() => {
                this.value = new DataView(file, at, 48);
                at += 48;
                this.dispatchEvent(new Event("characteristicvaluechanged"));
            }, 60);
            device.addEventListener("gattserverdisconnected", () => clearInterval(timer));
        }
    }
    const config = { writeValue: async (bytes) => (window.told = [...bytes]) };
    const parts = { [wanted("34c2e3bc")]: new Data(), [wanted("34c2e3be")]: config };
    const service = { getCharacteristic: async (name) => parts[name] };
    const server = { getPrimaryService: async (name) => name === wanted("34c2e3bb") && service };
    device.gatt = { connect: async () => server, disconnect() {} };
    window.earphone = device;
    Object.defineProperty(navigator, "bluetooth", { value: { requestDevice: async () => device } });
"""
"""A radio with one earphone in reach, which ben wears."""


def test_an_earphone_streams_by_bluetooth_until_it_goes(page: Page, running: "Running") -> None:
    page.add_init_script(EARPHONE)
    log_in(page, running.token("operator"))
    go(page, "Try it")
    page.get_by_label("Whose session").select_option("ben")
    page.get_by_label("Who wears it").select_option("bluetooth")
    page.get_by_role("button", name="Start streaming").click()
    expect(page.locator(".figures")).to_contain_text("OpenEarable-F00D")
    assert page.evaluate("window.told") == [7, 3, 1]
    expect(page.locator(".window")).to_contain_text("listening has only just begun")

    page.evaluate("window.earphone.dispatchEvent(new Event('gattserverdisconnected'))")

    expect(page.locator(".state .reason")).to_have_text("The earphone is not worn.")
