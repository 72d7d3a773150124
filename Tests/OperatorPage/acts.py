"""What an operator does: each act by the page, and its effect by other means."""

import json
import secrets

from playwright.sync_api import expect

from browser import Tab
from environment import AUDIENCE_COUNT, HOSTILE, SLOW, until

MAIL_COUNT, CHAT_COUNT, BROKEN_COUNT = 7, 12, 70


def make_dead_letters(environment):
    """Letters of several reasons and apps; a page of the list holds only some of them."""
    with environment.publisher() as publisher:
        for app, count in (("chat", CHAT_COUNT), ("mail", MAIL_COUNT)):
            for number in range(count):
                device = f"phone-{number}" if app == "chat" else f"mail-{number}"
                publisher.event(f"no-token-{app}-{number}", {
                    "app": app, "deviceIds": [device], "notification": {"data": {"call": number}},
                    "options": {"pushType": "voip"}})
        for number in range(BROKEN_COUNT):
            publisher.event(f"broken-{number}", {"app": "chat", "userIds": "user-1", "largest": 9223372036854775807})
        publisher.body("no JSON at all")
        publisher.event(HOSTILE, {"app": HOSTILE, "userIds": [HOSTILE], "notification": {"title": HOSTILE}})


def collect(browser, report, environment):
    """Letters that only the broker has are announced, and collected by a button."""
    with Tab(browser, report, environment.page) as tab:
        page = tab.open("#/dead-letters")
        expect(page.locator(".summary .finding")).to_contain_text("not listed here yet")
        tab.button("Collect").click()
        expect(page.locator(".tray")).to_contain_text("Done")
        # The page's server knows the length of the queue for some seconds.
        until(lambda: refresh(tab) == 0, 20, "the queue of dead letters is empty")
        expected = MAIL_COUNT + CHAT_COUNT + BROKEN_COUNT + 2
        expect(page.locator(".summary b").first).to_have_text(f"{expected} letters")
        tab.button("Dismiss").click()
        expect(page.locator(".tray article")).to_have_count(0)
        tab.button("More letters").click()
        expect(page.locator("tbody input[type=checkbox]")).to_have_count(expected)
        if sum(environment.letters().values()) != expected:
            report.problem(f"the command counts other letters than the page: {environment.letters()}")
    report.done("collecting, and pages of the list")


def refresh(tab):
    """Asks for the letters again; gives how many remarks about the queue there are."""
    with tab.page.expect_response(lambda response: "dead-letters/counts" in response.url):
        tab.button("Refresh").click()
    return tab.page.locator(".summary .finding").count()


def purge_filtered(browser, report, environment):
    """Purges exactly what a filter matches, among letters of the same reason and of the same app."""
    before = environment.letters()
    with Tab(browser, report, environment.page) as tab:
        page = tab.open("#/dead-letters")
        page.get_by_label("Reason", exact=True).fill("no-token")
        page.get_by_label("App", exact=True).fill("mail")
        tab.button("Filter", exact=True).click()
        expect(page.locator(".summary b").first).to_have_text(f"{MAIL_COUNT} letters")
        address = page.url
        tab.button("Purge all").click()
        expect(page.get_by_role("dialog")).to_contain_text("reason no-token, app mail")
        tab.inspect("question")
        tab.button("Cancel", exact=True).click()
        if environment.letters() != before:
            report.problem("a question that was answered with no has changed something")
        tab.button("Purge all").click()
        tab.button(f"Purge {MAIL_COUNT} dead letters", exact=True).click()
        expect(page.locator(".tray")).to_contain_text(f"{MAIL_COUNT} of {MAIL_COUNT}")
        expect(page.get_by_text("No letter matches the filter.")).to_be_visible()
        if page.url != address:
            report.problem(f"the filter was lost after the act: {page.url} instead of {address}")
    after = {key: count for key, count in before.items() if key != ("no-token", "mail")}
    if environment.letters() != after:
        report.problem(f"not exactly the filter was purged: {before} became {environment.letters()}")
    report.done("purging exactly what a filter matches")


def replay_selected(browser, report, environment):
    """Replays two ticked letters, whose devices have their token now: APNs gets these pushes and no others."""
    tokens = {number: "a0" + secrets.token_hex(31) for number in range(CHAT_COUNT)}
    for number, token in tokens.items():
        environment.apus("device", "token", "add", f"phone-{number}", "--kind", "voip", "--token", token)
    with Tab(browser, report, environment.page) as tab:
        page = tab.open("#/dead-letters?reason=no-token&app=chat")
        rows = page.locator("tbody tr:has(input)")
        expect(rows).to_have_count(CHAT_COUNT)
        chosen = [rows.nth(index).locator(".name").inner_text() for index in (1, 4)]
        for index in (1, 4):
            rows.nth(index).get_by_role("checkbox").check()
        tab.button("Replay selected").click()
        tab.button("Replay 2 dead letters", exact=True).click()
        expect(page.locator(".tray")).to_contain_text("2 of 2")
        expect(rows).to_have_count(CHAT_COUNT - 2)
    wanted = {tokens[int(identifier.rsplit("-", 1)[1])] for identifier in chosen}
    pushed = until(lambda: {each["token"] for each in environment.accepted() if each["push_type"] == "voip"} or None,
                   20, "the replayed pushes reach APNs")
    until(lambda: wanted <= {each["token"] for each in environment.accepted()}, 20, "both replayed pushes reach APNs")
    if not pushed <= wanted:
        report.problem("letters were replayed that nobody had ticked")
    report.done("replaying what is ticked")


def look_into_letter(browser, report, environment):
    """A letter is shown masked, and large numbers as they were published."""
    with Tab(browser, report, environment.page) as tab:
        page = tab.open("#/dead-letters?eventId=broken-3")
        page.locator("tbody a.code").click()
        expect(page.locator("pre")).to_contain_text('"userIds"')
        expect(page.get_by_text("Values are masked")).to_be_visible()
        expect(tab.button("Copy")).to_be_visible()
        page.get_by_role("link", name="Explain …").click()
        form = page.locator("form[aria-label=Explain]")
        form.get_by_label("Device").fill("phone-1")
        tab.button("Explain", exact=True).click()
        expect(page.locator(".verdict")).to_be_visible()
        tab.inspect("explained")
    report.done("looking into a letter, explaining it")


def cancel_fan_out(browser, report, environment):
    """Cancels a fan-out in its midst: the rest of its devices get nothing."""
    with environment.publisher() as publisher:
        publisher.event("breaking-news", {"app": "chat", "topic": "news", "notification": {"title": "Breaking"}})
    with Tab(browser, report, environment.page) as tab:
        page = tab.open("#/fan-outs")
        row = page.get_by_role("row").filter(has_text="breaking-news")
        row.get_by_role("button", name="Cancel the fan-out").click(timeout=60_000)
        expect(page.get_by_role("dialog")).to_contain_text("breaking-news")
        tab.button("Cancel the fan-out", exact=True).click()
        expect(row).to_contain_text("Cancelled")
        expect(row.get_by_role("button")).to_have_count(0)
    state = json.loads(environment.apus("fanout", "list", "--json").splitlines()[0])
    if "cancelled" not in json.dumps(state):
        report.problem(f"the command knows nothing of the cancelling: {state}")
    count = sum(each["token"].startswith(SLOW) for each in environment.accepted())
    if count >= AUDIENCE_COUNT:
        report.problem(f"all {count} devices of the cancelled fan-out had their push")
    report.done(f"cancelling a fan-out after {count:,} of {AUDIENCE_COUNT:,} devices")


def send_test_push(browser, report, environment):
    with Tab(browser, report, environment.page) as tab:
        page = tab.open("#/find?kind=device&value=phone-3")
        page.get_by_role("link", name="Send or explain").click()
        form = page.get_by_role("form", name="Test push")
        expect(form.get_by_label("Device")).to_have_value("phone-3")
        form.get_by_label("Title").fill("From the page")
        tab.button("Send to the device").click()
        expect(form.get_by_text("RabbitMQ has the event")).to_be_visible()
        until(lambda: any("From the page" in json.dumps(each["payload"]) for each in environment.accepted()), 20,
              "the test push reaches APNs")
        form.get_by_label("Device").fill("nobody")
        tab.expected = ["404"]
        tab.button("Send to the device").click()
        expect(page.get_by_role("dialog")).to_contain_text("nobody")
    report.done("a test push, and one to nobody")


def pause(browser, report, environment):
    """Pauses an app and resumes it; its events wait meanwhile."""
    with Tab(browser, report, environment.page) as tab:
        page = tab.open("#/now")
        row = page.get_by_role("table", name="Apps").get_by_role("row").filter(has_text="mail")
        row.get_by_role("button", name="Pause mail").click()
        tab.button("Pause", exact=True).click()
        expect(page.get_by_role("dialog")).to_be_visible()
        page.get_by_label("Reason, for colleagues").fill("new key")
        page.keyboard.press("Enter")
        expect(row).to_contain_text("Paused")
        expect(row).to_contain_text("new key")
        expect(page.locator(".findings")).to_contain_text("The app mail is paused: new key")
        # Each worker learns of it from the registry.
        page.wait_for_timeout(6_000)
        with environment.publisher() as publisher:
            publisher.event("while-paused", {"app": "mail", "userIds": ["user-1"], "notification": {"title": "Waited"}})
            publisher.event("not-paused", {"app": "chat", "userIds": ["user-1"], "notification": {"title": "Went on"}})
        until(lambda: has_title(environment, "Went on"), 20, "the push of another app")
        if has_title(environment, "Waited"):
            report.problem("a paused app had a push")
        row.get_by_role("button", name="Resume mail").click()
        expect(row).to_contain_text("OK")
        until(lambda: has_title(environment, "Waited"), 60, "the push that had waited")
    report.done("pausing and resuming an app")


def has_title(environment, title):
    return any(title in json.dumps(each["payload"]) for each in environment.accepted())


def audit(browser, report, environment):
    """The audit log names each act of the others, who did it and to how many."""
    with Tab(browser, report, environment.page) as tab:
        page = tab.open("#/audit")
        for what, many in (("Purge dead letters", f"{MAIL_COUNT} of {MAIL_COUNT}"), ("Replay dead letters", "2 of 2"),
                           ("Cancel a fan-out", ""), ("Send a test push", ""), ("Collect dead letters", ""), ("Pause", ""), ("Resume", "")):
            expect(page.get_by_role("row").filter(has_text=what).filter(has_text=many).first).to_contain_text("local")
    report.done("the audit log")
