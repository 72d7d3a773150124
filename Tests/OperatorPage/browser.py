"""Chromium, watched: no error in its console, no violation of the content security policy or of axe's rules."""

import os

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from environment import NAME

PROGRAM = "/usr/bin/chromium"
HOSTILE_NAME = "hostile.internal"
DESKTOP, PHONE = {"width": 1440, "height": 900}, {"width": 390, "height": 844}
MODES = {
    "light": {"color_scheme": "light", "viewport": DESKTOP},
    "dark": {"color_scheme": "dark", "viewport": DESKTOP},
    "phone": {"color_scheme": "light", "viewport": PHONE, "reduced_motion": "reduce", "has_touch": True},
}
WAIT_MILLISECONDS = 20_000
TABS_MAXIMUM = 150


def launch(playwright):
    """A browser that resolves two names of an operator's network to this machine, and reaches nothing else."""
    names = ", ".join(f"MAP {name} 127.0.0.1" for name in (NAME, HOSTILE_NAME))
    expect.set_options(timeout=WAIT_MILLISECONDS)
    return playwright.chromium.launch(executable_path=PROGRAM, args=[
        "--no-sandbox",
        # It would refuse requests to this machine before the server is asked.
        "--disable-features=LocalNetworkAccessChecks",
        f"--host-resolver-rules={names}, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost"])


class Tab:
    """One page of a context of its own; `problems` collects what it must not do."""

    def __init__(self, browser, report, address, mode="light", **options):
        self._report = report
        self._context = browser.new_context(**MODES[mode], **options)
        self._context.set_default_timeout(WAIT_MILLISECONDS)
        self.address = address
        self.mode = mode
        # Parts of messages that the check itself provokes.
        self.expected = []
        self.page = self._context.new_page()
        self.page.on("console", self._console)
        self.page.on("pageerror", lambda error: self._problem(f"error: {error.stack or error.message}"))
        self.page.on("dialog", self._dialog)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._context.close()

    @property
    def context(self):
        return self._context

    def open(self, route=""):
        """Shows a view, anew."""
        self.page.goto("about:blank")
        self.page.goto(self.address + route)
        self.page.locator("main h1").first.wait_for(state="attached")
        return self.page

    def button(self, name, exact=False):
        return self.page.get_by_role("button", name=name, exact=exact)

    def inspect(self, name, folder=None):
        """axe's rules, the width, and a picture."""
        for violation in Axe().run(self.page).response["violations"]:
            places = "; ".join(node["html"][:160] for node in violation["nodes"][:3])
            self._problem(f"axe {violation['id']} in {name}: {violation['help']}: {places}")
        excess = self.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        if excess > 0:
            self._problem(f"{name} is {excess} pixels wider than the window")
        if folder:
            self.page.screenshot(path=os.path.join(folder, f"{name}-{self.mode}.png"), full_page=True)

    def tab_to(self, name, backwards=False):
        """Goes to an element by the keyboard alone; the name is the beginning of what it is called."""
        for _ in range(TABS_MAXIMUM):
            self.page.keyboard.press("Shift+Tab" if backwards else "Tab")
            if self.focused().startswith(name):
                return
        raise AssertionError(f"the keyboard does not reach '{name}'; it is at '{self.focused()}'")

    def focused(self):
        """What the focused element is called."""
        return self.page.evaluate("""() => {
            const element = document.activeElement;
            return element.getAttribute("aria-label") ?? (element.labels?.[0] ?? element).textContent.trim();
        }""")

    def _console(self, message):
        if message.type in ("error", "warning") and not any(part in message.text for part in self.expected):
            self._problem(f"console: {message.text} ({message.location.get('url', '')})")

    def _dialog(self, dialog):
        dialog.dismiss()
        self._problem(f"a script from outside ran: {dialog.message}")

    def _problem(self, text):
        self._report.problem(f"{self.mode}: {text}")
