"""Each view, in light, dark and on a phone; what polling does; the keyboard alone."""

import json

from playwright.sync_api import expect

from browser import MODES, Tab

VIEWS = {
    "now": "#/now",
    "dead-letters": "#/dead-letters",
    "dead-letters-filter": "#/dead-letters?reason=no-token&app=chat",
    "fan-outs": "#/fan-outs",
    "campaigns": "#/campaigns",
    "campaign": "#/campaigns/spring%20sale?app=chat",
    "campaign-days": "#/campaigns/spring%20sale?app=chat&by=day",
    "find": "#/find?kind=user&value=user-1",
    "send": "#/send?device=phone-1",
    "audit": "#/audit",
}
# What tells that a view has its data.
LOADED = {
    "now": ".tile", "dead-letters": "td", "dead-letters-filter": "td", "fan-outs": "td", "find": ".device",
    "campaigns": "td", "campaign": ".plot path.line", "campaign-days": ".plot path.line", "send": "form", "audit": "td",
}


def render(browser, report, environment, folder):
    # So that there is something under way in the pictures.
    with environment.publisher() as publisher:
        publisher.event("evening-news", {"app": "chat", "topic": "news", "notification": {"title": "Evening news"}})
    for mode in MODES:
        with Tab(browser, report, environment.page, mode) as tab:
            for name, route in VIEWS.items():
                page = tab.open(route)
                page.locator(f"main {LOADED[name]}").first.wait_for()
                if name == "now" and mode == "light":
                    expect(page.locator(".rest progress:not(.thin)")).not_to_have_count(0)
                tab.inspect(name, folder)
            page = tab.open("#/dead-letters")
            page.locator("tbody a.code").first.click()
            page.locator("pre").wait_for()
            tab.inspect("letter", folder)
        report.done(f"{len(VIEWS) + 1} views, {mode}")


def show_now(browser, report, environment):
    """What the view Now says is what there is."""
    with Tab(browser, report, environment.page) as tab:
        page = tab.open("#/now")
        expect(page.locator("table", has_text="Data from").locator("tbody tr")).to_have_count(2)
        expect(page.locator("a.tile strong")).not_to_have_text("0")
        expect(page.get_by_role("row", name="apus.work")).to_be_visible()
        expect(page.get_by_role("row", name="music")).to_contain_text("Failing")
        expect(page.get_by_role("row", name="music")).to_contain_text("does not accept its credentials")
        expect(page.locator(".freshness")).to_contain_text("Live")
        expect(page.locator(".plot path.line").first).to_be_attached()
        chart = page.locator(".plot").first
        chart.focus()
        newest = chart.get_attribute("aria-label")
        page.keyboard.press("Home")
        if chart.get_attribute("aria-label") == newest:
            report.problem("the arrow keys do not move along the chart")
    report.done("Now: two workers, why an app fails, the chart by keyboard")


def show_campaign(browser, report, environment):
    """A campaign's sums, its table and its chart say the same as the command, for all platforms and for one."""
    known = json.loads(environment.apus("campaign", "show", "chat", "spring sale", "--by", "hour", "--json"))
    shares = {share["platform"]: share for share in known["platforms"]}
    with Tab(browser, report, environment.page) as tab:
        page = tab.open("#/campaigns")
        row = page.get_by_role("row").filter(has_text="spring sale")
        expect(row).to_contain_text(f"{known['accepted']:,}")
        row.get_by_role("link").click()
        accepted = page.locator(".tile").filter(has=page.get_by_text("Accepted", exact=True)).locator("strong")
        expect(accepted).to_have_text(f"{known['accepted']:,}")
        hours = len({part["at"] for part in known["slices"]})
        expect(page.get_by_role("region", name="Counts over time").locator("tbody tr")).to_have_count(hours)
        page.get_by_role("combobox", name="Platform").select_option("GCM")
        expect(accepted).to_have_text(f"{shares['GCM']['accepted']:,}")
        chart = page.locator(".plot").first
        chart.focus()
        newest = chart.get_attribute("aria-label")
        page.keyboard.press("Home")
        if chart.get_attribute("aria-label") == newest or "Opened" not in newest:
            report.problem(f"the chart of a campaign does not speak: {newest}")
        page.get_by_role("combobox", name="Time").select_option("day")
        expect(page.get_by_role("columnheader", name="Day of UTC")).to_be_visible()
        expect(accepted).to_have_text(f"{shares['GCM']['accepted']:,}")
        tab.expected = ["404"]
        page = tab.open("#/campaigns/nothing?app=chat")
        expect(page.locator(".empty")).to_contain_text("nothing")
        expect(page.locator("#trouble")).to_be_empty()
    report.done("campaigns: sums, hours, days, a platform, the chart by keyboard")


def poll(browser, report, environment):
    """Polling goes on by itself, stops while nobody looks, and says when no data comes."""
    with Tab(browser, report, environment.page) as tab:
        page = tab.open("#/now")
        requests = []
        page.on("request", lambda request: requests.append(request.url) if request.url.endswith("api/now") else None)
        page.wait_for_timeout(7_000)
        if not requests:
            report.problem("the view Now is not asked for again")
        hide(page, True)
        page.wait_for_timeout(500)
        requests.clear()
        page.wait_for_timeout(8_000)
        if requests:
            report.problem("a hidden page goes on polling")
        hide(page, False)
        page.wait_for_timeout(2_000)
        if not requests:
            report.problem("a page that is shown again does not ask at once")
        tab.expected = ["ERR_INTERNET_DISCONNECTED"]
        tab.context.set_offline(True)
        expect(page.locator("#trouble")).to_contain_text("cannot be reached")
        expect(page.locator(".freshness")).to_contain_text("Old")
        expect(page.locator(".tile").first).to_be_visible()
        tab.context.set_offline(False)
        tab.button("Try again").click()
        expect(page.locator("#trouble")).to_be_empty()
        expect(page.locator("#announcements")).to_contain_text("current again")
    report.done("polling, hiding, a server that is away and comes back")


def hide(page, is_hidden):
    page.evaluate("""(isHidden) => {
        Object.defineProperty(document, "hidden", { configurable: true, get: () => isHidden });
        document.dispatchEvent(new Event("visibilitychange"));
    }""", is_hidden)


def walk_by_keyboard(browser, report, environment):
    """Selects a letter, asks to purge it, and changes one's mind, without a mouse."""
    with Tab(browser, report, environment.page) as tab:
        page = tab.open("#/now")
        page.locator(".tile").first.wait_for()
        page.keyboard.press("Tab")
        if tab.focused() != "Skip to the content":
            report.problem(f"the first stop of the keyboard is '{tab.focused()}'")
        page.keyboard.press("Enter")
        if page.evaluate("document.activeElement.id") != "main":
            report.problem("the skip link does not lead to the content")
        page.reload()
        page.locator(".tile").first.wait_for()
        tab.tab_to("Dead letters")
        page.keyboard.press("Enter")
        page.locator("td").first.wait_for()
        tab.tab_to("Select ")
        page.keyboard.press("Space")
        expect(page.get_by_text("1 letter selected")).to_be_visible()
        tab.tab_to("Purge selected", backwards=True)
        page.keyboard.press("Enter")
        expect(page.get_by_role("dialog")).to_contain_text("Purge 1 dead letter?")
        if tab.focused() != "Cancel":
            report.problem(f"the question begins at '{tab.focused()}' instead of Cancel")
        tab.inspect("question")
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).to_have_count(0)
        if not tab.focused().startswith("Purge selected"):
            report.problem(f"after the question the keyboard is at '{tab.focused()}'")
    report.done("the keyboard alone")
