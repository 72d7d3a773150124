"""Pushes in a real browser: headless Chromium gives the plaintext of each push to the service worker of a page.

DevTools (`ServiceWorker.deliverPushMessage`) hands the text to the worker in place of the browser's own push service,
which is Google's and cannot be replaced: without it `pushManager.subscribe` does not end. So this begins where the
decryption ends, and a push has to say to a service worker what it is meant to say.
"""

import argparse
import functools
import http.server
import json
import os
import sys
import tempfile
import threading

from playwright.sync_api import TimeoutError as WaitedTooLong, sync_playwright

PROGRAM = "/usr/bin/chromium"
PAGES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "browser")
WAIT_MILLISECONDS = 20_000
READY = "() => navigator.serviceWorker.controller !== null"
SHOWN = """async () => (await (await navigator.serviceWorker.ready).getNotifications())
    .map(({ title, body, tag, data }) => ({ title, body, tag, data }))"""

# Pushes of our own: nested data, characters beyond ASCII, a tag that replaces, nothing for people, and no JSON.
SAMPLES = [
    json.dumps({
        "title": "Grüße 👋", "body": "from \"Kraków\"", "tag": "a", "data": {"id": "1", "n": [1, None, {"x": 2}]}}),
    json.dumps({"notification": {"title": "In an object of its own", "body": "second", "tag": "b"}}),
    json.dumps({"title": "Newer", "tag": "a"}),
    json.dumps({"source": "cognito-sync", "datasetName": "notes", "syncCount": "7"}),
    "no JSON at all",
    json.dumps({"title": "Long", "tag": "c", "data": {"text": "x" * 3_900}}),
]


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    """Serves the page and its worker without a log."""

    def log_message(self, *_):
        pass


class Browser:
    """One profile of Chromium, with the page open; it resolves no name but that of this machine."""

    def __init__(self, playwright, folder, origin):
        self._origin = origin
        # Windows without a profile get no notifications, so this is no private one.
        self._context = playwright.chromium.launch_persistent_context(folder, executable_path=PROGRAM, args=[
            "--no-sandbox", "--disable-features=LocalNetworkAccessChecks",
            "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost"])
        self._context.set_default_timeout(WAIT_MILLISECONDS)
        self._context.grant_permissions(["notifications"], origin=origin)
        self.page = self._context.pages[0]
        self.errors = []
        self._context.on("weberror", lambda error: self.errors.append(str(error.error)))
        self._tools = self._context.new_cdp_session(self.page)
        self._registrations = []
        self._tools.on("ServiceWorker.workerRegistrationUpdated",
                       lambda event: self._registrations.extend(event["registrations"]))
        self._tools.send("ServiceWorker.enable")
        self.open()

    def open(self):
        self.page.goto(self._origin + "/index.html")
        self.page.wait_for_function(READY)

    def leave(self):
        self.page.goto("about:blank")

    def deliver(self, text):
        """Gives a push to the service worker."""
        registration = next(item for item in reversed(self._registrations) if not item["isDeleted"])
        self._tools.send("ServiceWorker.deliverPushMessage", {
            "origin": self._origin, "registrationId": registration["registrationId"], "data": text})

    def report(self, number):
        """What the worker says of a push, counted from 0 since the page was opened."""
        self.page.wait_for_function(f"() => window.reports.length > {number}")
        return self.page.evaluate(f"() => window.reports[{number}]")

    def shown(self):
        return self.page.evaluate(SHOWN)

    def wait_for_title(self, title):
        self.page.wait_for_function(
            f"async (title) => (await ({SHOWN})()).some((shown) => shown.title === title)", arg=title)

    def close(self):
        self._context.close()


def expected(text):
    """The notification of a plaintext, as the worker is to show it."""
    try:
        content = json.loads(text)
    except ValueError:
        content = {"body": text}
    part = content.get("notification", content)
    return {"title": part.get("title", "Something has changed"), "body": part.get("body", ""),
            "tag": part.get("tag") or "", "data": part.get("data", content)}


def check(browser, texts):
    """Delivers each text while the page is open, and one when it is not."""
    problems = []
    tagged, untagged = {}, []
    for number, text in enumerate(texts):
        browser.deliver(text)
        report = browser.report(number)
        wanted = expected(text)
        if wanted["tag"]:
            tagged[wanted["tag"]] = wanted
        else:
            untagged.append(wanted)
        if report["text"] != text:
            problems.append(f"push {number} reached the worker as {report['text'][:200]!r}, not {text[:200]!r}")
        if wanted not in report["shown"]:
            problems.append(f"push {number} is not shown as {wanted}, among {report['shown']}")
    remaining = sorted(json.dumps(item, sort_keys=True) for item in browser.shown())
    wanted = sorted(json.dumps(item, sort_keys=True) for item in [*tagged.values(), *untagged])
    if remaining != wanted:
        problems.append(f"these notifications are shown: {remaining}, and not {wanted}")
    browser.leave()
    browser.deliver(json.dumps({"title": "While nobody looks", "tag": "closed"}))
    browser.open()
    try:
        browser.wait_for_title("While nobody looks")
    except WaitedTooLong:
        problems.append("a push is not shown that came while no page was open")
    return problems + [f"error: {error}" for error in browser.errors]


def recorded(path):
    """The plaintexts in a record of the Web Push simulator: of each message that reached its browser."""
    texts = []
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            record = json.loads(line)
            reached = record["kind"] == "delivery" or record["fate"] == "delivered"
            if reached and record["payload"] is not None:
                texts.append(json.dumps(record["payload"], ensure_ascii=False, separators=(",", ":")))
    return texts


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", help="a record of the Web Push simulator, whose plaintexts are delivered")
    options = parser.parse_args()
    texts = recorded(options.records) if options.records else SAMPLES
    if not texts:
        print(f"browser_push: no message in {options.records} reached a browser with JSON", file=sys.stderr)
        return 65
    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(QuietHandler, directory=PAGES))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = Browser(playwright, folder, f"http://localhost:{server.server_port}")
        try:
            problems = check(browser, texts)
        finally:
            browser.close()
    server.shutdown()
    for problem in problems:
        print(f"WRONG: {problem}")
    print(f"{len(texts) + 1} pushes were given to a service worker, {len(problems)} problems")
    return 1 if problems else 0


sys.exit(main())
