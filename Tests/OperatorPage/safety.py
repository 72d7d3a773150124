"""Who may look and act: roles, other sites, names that look like markup, a proxy with a path of its own."""

import http.server
import json
import threading
import urllib.error
import urllib.request

from playwright.sync_api import expect

from browser import HOSTILE_NAME, Tab
from environment import HOSTILE, PREFIX

# What the other site's own answers are told from the page's by.
HOSTILE_STATUS = 203
ATTACK = """<!doctype html><title>hostile</title><script>
const send = (mode, headers) => fetch("%s", {method: "POST", mode, headers, body: "{}", credentials: "include"})
    .then((response) => response.type, (error) => "refused");
Promise.all([send("no-cors", {"Content-Type": "text/plain"}), send("cors", {"Content-Type": "application/json"})])
    .then((results) => { document.title = "sent " + results.join(" "); });
</script>"""


def show_hostile_names(browser, report, environment):
    """Names that would run a script as markup are text in each view."""
    quoted = urllib.request.quote(HOSTILE, safe="")
    routes = [
        ("#/now", ".tile"), ("#/dead-letters", "td"), (f"#/find?kind=device&value={quoted}", ".device"),
        (f"#/find?kind=user&value={quoted}", ".device"), (f"#/find?kind=event&value={quoted}", "section"),
        (f"#/dead-letters?app={quoted}", ".summary b"), (f"#/dead-letters?eventId={quoted}", "td"),
        (f"#/{quoted}/{quoted}", "h1"), ("#/audit", "td"), ("#/campaigns", "td"),
        (f"#/campaigns/{quoted}?app=chat", ".tile"),
    ]
    with Tab(browser, report, environment.page) as tab:
        for route, loaded in routes:
            page = tab.open(route)
            page.locator(f"main {loaded}").first.wait_for(state="attached")
            page.wait_for_timeout(300)
            if page.locator("main img").count():
                report.problem(f"a name became an image in {route}")
        page = tab.open(f"#/find?kind=device&value={quoted}")
        expect(page.locator(".device h3")).to_contain_text(HOSTILE)
        page = tab.open(f"#/campaigns/{quoted}?app=chat")
        expect(page.locator("h1")).to_contain_text(HOSTILE)
        page = tab.open(f"#/dead-letters?eventId={quoted}")
        page.locator("tbody a.code").click()
        expect(page.locator("pre")).to_contain_text("<img src=x")
    report.done("names that look like markup")


def refuse_other_sites(browser, report, environment):
    """A page of another site can make the browser send requests, and the server refuses them."""
    before = count_actions(environment)
    for own in (environment.page, environment.named_page):
        with Attacker(f"{own}api/dead-letters/collect") as attacker, Tab(browser, report, own) as tab:
            tab.expected = ["CORS", "ERR_FAILED", "ERR_BLOCKED_BY_RESPONSE"]
            # The page's script does not see the answers, nor does Playwright; the browser's own protocol tells them.
            statuses = []
            protocol = tab.context.new_cdp_session(tab.page)
            protocol.send("Network.enable")
            protocol.on("Network.responseReceivedExtraInfo", lambda event: statuses.append(event["statusCode"]))
            for host in (HOSTILE_NAME, "localhost"):
                statuses.clear()
                tab.page.goto(f"http://{host}:{attacker.port}/")
                tab.page.wait_for_function("document.title.startsWith('sent')")
                # A simple request is refused as such, the other by the answer to the question before it (OPTIONS).
                if sorted(status for status in statuses if status != HOSTILE_STATUS) != [403, 405]:
                    report.problem(f"a page of {host} sent requests to {own} and had {statuses}")
    after = count_actions(environment)
    if after != before:
        report.problem(f"another site acted: {after - before} entries more in the audit log")
    report.done("requests of other sites")


def act_by_name(browser, report, environment):
    """On plain http, where browsers send no Sec-Fetch-Site, the page's own requests are served.

    Copying is not offered there, because it would not work.
    """
    before = count_actions(environment)
    with Tab(browser, report, environment.named_page) as tab:
        # The browser leaves out a header that it honours on secure pages only.
        tab.expected = ["Cross-Origin-Opener-Policy header has been ignored"]
        page = tab.open("#/dead-letters?eventId=broken-5")
        page.locator("tbody a.code").click()
        page.locator("pre").wait_for()
        expect(tab.button("Copy")).to_have_count(0)
        tab.button("Purge").click()
        tab.button("Purge 1 dead letter", exact=True).click()
        expect(page.locator(".tray")).to_contain_text("Done")
    if count_actions(environment) != before + 1:
        report.problem("the page's own request on plain http was not served")
    for headers, status in (({"Host": "rebound.example"}, 421), ({"Origin": "http://hostile.example"}, 403),
                            ({"Origin": "null"}, 403), ({"Sec-Fetch-Site": "cross-site"}, 403), ({}, 400)):
        found = post(environment.page + "api/dead-letters/preview", headers)
        if found != status:
            report.problem(f"a request with {headers} had {found} instead of {status}")
    report.done("the page on plain http, headers by hand")


def ask_for_login(browser, report, environment):
    """Nobody is served without a password; a viewer sees everything and is offered nothing to do."""
    for address in ("", "api/now", "assets/app.js"):
        try:
            with urllib.request.urlopen(environment.guarded_page + address, timeout=10) as answer:
                report.problem(f"{address or 'the page'} was served without a login: {answer.status}")
        except urllib.error.HTTPError as error:
            if error.code != 401:
                report.problem(f"{address} answered {error.code} instead of 401")
    name, password = environment.viewer
    credentials = {"username": name, "password": password}
    with Tab(browser, report, environment.guarded_page, http_credentials=credentials) as tab:
        page = tab.open("#/dead-letters")
        expect(page.locator("#person")).to_contain_text(f"{name} viewer")
        page.locator("td").first.wait_for()
        for label in ("Purge", "Replay", "Collect", "Select"):
            expect(tab.button(label)).to_have_count(0)
        expect(page.get_by_role("checkbox")).to_have_count(0)
        page = tab.open("#/now")
        page.locator(".tile").first.wait_for()
        expect(tab.button("Pause")).to_have_count(0)
        page = tab.open("#/send")
        expect(page.get_by_role("form", name="Test push")).to_have_count(0)
        tab.expected = ["403"]
        status = page.evaluate("""async () => (await fetch("api/dead-letters/collect", {
            method: "POST", headers: {"Content-Type": "application/json"}, body: "{}"})).status""")
        if status != 403:
            report.problem(f"a viewer's act had {status} instead of 403")
        tab.inspect("viewer")
    name, password = environment.operator
    credentials = {"username": name, "password": password}
    with Tab(browser, report, environment.guarded_page, http_credentials=credentials) as tab:
        page = tab.open("#/dead-letters")
        expect(page.locator("#person")).to_contain_text(f"{name} operator")
        expect(tab.button("Purge all")).to_be_visible()
    report.done("logins and roles")


def work_behind_proxy(browser, report, environment):
    """Behind nginx with a path of its own before the page's, which also says who the person is."""
    with Tab(browser, report, environment.proxied_page) as tab:
        tab.context.add_cookies([{"name": "as", "value": "otto", "url": environment.proxied_page}])
        page = tab.page
        page.goto(environment.proxied_page)
        expect(page.locator(".tile").first).to_be_visible()
        if not page.url.startswith(f"{environment.proxied_page}/"):
            report.problem(f"the page moved from {environment.proxied_page} to {page.url}")
        expect(page.locator("#person")).to_contain_text("otto operator")
        page.get_by_role("link", name="Dead letters", exact=True).click()
        page.get_by_label("Event id", exact=True).fill("broken-7")
        tab.button("Filter", exact=True).click()
        expect(page.locator(".summary b").first).to_have_text("1 letter")
        tab.button("Purge all").click()
        tab.button("Purge 1 dead letter", exact=True).click()
        expect(page.locator(".tray")).to_contain_text("Done")
        page.get_by_role("link", name="Audit").click()
        expect(page.get_by_role("row").filter(has_text="broken-7").first).to_contain_text("otto")
        tab.inspect("proxied")
    report.done(f"behind nginx below {PREFIX}")


def count_actions(environment):
    with urllib.request.urlopen(environment.page + "api/actions?limit=200", timeout=10) as answer:
        return len(json.load(answer)["actions"])


def post(address, headers):
    request = urllib.request.Request(address, b"{}", {"Content-Type": "application/json", **headers}, method="POST")
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


class Attacker:
    """A web server of another site, whose page makes its visitors' browsers send requests to an address."""

    def __init__(self, target):
        body = (ATTACK % target).encode()

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(HOSTILE_STATUS)
                self.send_header("Content-Type", "text/html")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self._server.server_address[1]

    def __enter__(self):
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()
