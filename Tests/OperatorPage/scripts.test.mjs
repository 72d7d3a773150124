// The pure functions of the page's scripts. Run by `node --test`, without a browser.

import assert from "node:assert/strict";
import { test } from "node:test";

const web = new URL("../../Sources/C/COperatorPage/web/", import.meta.url);
const { age, bytes, count, counted, dateHour, dateTime, dateUTC, duration, localText, millisecondsOf, parseJSON,
    percent, prettyJSON, rate, share, shortCount } = await import(new URL("format.js", web));
const { connectionSums, shownApps } = await import(new URL("apps.js", web));
const { added, countWords, timelineOf } = await import(new URL("campaigns.js", web));
const { formatQuery, formatRoute, parseRoute } = await import(new URL("route.js", web));
const { BACK_OFF_SECONDS_MAXIMUM, PollSchedule } = await import(new URL("poll.js", web));
const { linePath, nearest, timeTicks, valueTicks } = await import(new URL("chart.js", web));
const { CAMPAIGN_COUNTS, filterWords, findings, platformWords, progressWords, stateWords } =
    await import(new URL("words.js", web));
const { filterOf, shortId } = await import(new URL("letters.js", web));
const { endWords, explainRequest } = await import(new URL("view-send.js", web));

test("Integers that JavaScript would round stay as they were written", () => {
    const text = '{"a":9223372036854775807,"b":-1234567890123456,"c":12,"d":"1234567890123456789",'
        + '"e":[18446744073709551615]}';
    assert.deepEqual(parseJSON(text), {
        a: 9223372036854775807n, b: -1234567890123456n, c: 12, d: "1234567890123456789", e: [18446744073709551615n],
    });
    assert.equal(prettyJSON(parseJSON(text)).replace(/\s/g, ""), text);
});

test("Decimals, exponents and digits in texts are left alone", () => {
    const text = '{"a":0.12345678901234567,"b":1234567890123456.5,"c":1e300,'
        + '"\\"1234567890123456":"x\\\\","d":"12345678901234567 \\" 1"}';
    assert.deepEqual(parseJSON(text), JSON.parse(text));
});

test("A text cannot pass for a large number", () => {
    assert.deepEqual(parseJSON('["\\u0000abc","\\u000012"]'), ["\0abc", "\x0012"]);
});

test("Text that is not JSON is refused", () => {
    for (const text of ["", "<h1>502</h1>", '{"a":}', '{"a":"']) assert.throws(() => parseJSON(text), SyntaxError);
});

test("Counts are grouped, whatever their size", () => {
    assert.equal(count(1234567), "1,234,567");
    assert.equal(count(9223372036854775807n), "9,223,372,036,854,775,807");
    assert.equal(count(undefined), "–");
    assert.equal(counted(1, "letter"), "1 letter");
    assert.equal(counted(0, "letter"), "0 letters");
    assert.equal(counted(2, "process", "processes"), "2 processes");
});

test("A small rate is not shown as zero", () => {
    assert.deepEqual([0, 0.01, 0.05, 3.14, 9.96, 1234.5, undefined].map(rate),
        ["0", "<0.1", "0.1", "3.1", "10", "1,235", "–"]);
});

test("Durations have the two units that matter", () => {
    const expected = {
        0: "0 ms", 0.0314: "31 ms", 0.0032: "3.2 ms", 0.9999: "1 s", 1.26: "1.3 s", 59.9: "60 s", 60: "1 min",
        85.3: "1 min 25 s",
        3600: "1 h", 3725: "1 h 2 min", 90000: "1 d 1 h",
    };
    for (const [seconds, text] of Object.entries(expected)) assert.equal(duration(Number(seconds)), text);
    assert.equal(duration(-1), "0 ms");
    assert.equal(duration(NaN), "–");
});

test("Ages tick in whole seconds, and are never negative", () => {
    assert.deepEqual([-3, 0.9, 59.9, 61].map(age), ["0 s", "0 s", "59 s", "1 min 1 s"]);
});

test("Sizes and shares are rounded so that they do not lie", () => {
    assert.deepEqual([0, 1023, 1024, 1048575, 1048576].map(bytes), ["0 B", "1023 B", "1.0 KiB", "1.0 MiB", "1.0 MiB"]);
    assert.deepEqual([0, 0.999, 1, undefined].map(percent), ["0 %", "99 %", "100 %", "–"]);
});

test("A part of a whole never says 100 % of what is not whole, and may be more", () => {
    assert.deepEqual([[0, 5], [1, 3], [29, 100], [9999, 10000], [7, 7], [8, 7], [1n, 2n], [0, 0]]
        .map(([part, whole]) => share(part, whole)),
    ["0.0 %", "33.3 %", "29.0 %", "99.9 %", "100 %", "114.2 %", "50.0 %", "–"]);
    assert.deepEqual([0, 950, 1_250_000].map(shortCount), ["0", "950", "1.25M"]);
});

test("A campaign is summed by step for all platforms or one, and its chart has no gaps", () => {
    const hour = 3_600_000;
    const slice = (at, platform, accepted, opened) => ({ atMilliseconds: at * hour, platform, accepted, opened });
    const answer = {
        campaign: { firstMilliseconds: 48 * hour }, by: "hour", fromMilliseconds: 48 * hour,
        throughMilliseconds: 52 * hour - 1,
        slices: [slice(48, "APNS", 5, 1), slice(48, "GCM", 3, 0), slice(51, "GCM", 2, 2n)],
    };
    const all = timelineOf(answer);
    assert.deepEqual(all.points.map((point) => point.atMilliseconds / hour), [47, 48, 49, 50, 51]);
    assert.deepEqual(all.points.map(({ accepted }) => accepted), [0, 8, 0, 0, 2]);
    assert.deepEqual(all.parts.map(({ accepted, opened, matched }) => [accepted, opened, matched]),
        [[8, 1, 0], [2, 2, 0]]);
    assert.equal(all.sums.accepted, 10);
    const google = timelineOf(answer, "GCM");
    assert.deepEqual([google.sums.accepted, google.sums.opened, google.parts.length], [5, 2, 2]);
    const later = timelineOf({ ...answer, fromMilliseconds: 50 * hour }, "ADM");
    assert.deepEqual([later.points.length, later.parts.length, later.sums], [2, 0, added()]);
    const days = timelineOf({ ...answer, by: "day", fromMilliseconds: 50 * hour, campaign: { firstMilliseconds: 0 } });
    assert.deepEqual(days.points.map((point) => point.atMilliseconds / hour), [48]);
    assert.ok(timelineOf({ ...answer, throughMilliseconds: Number.MAX_SAFE_INTEGER }).points.length <= 1_000);
});

test("Counts of a campaign are told with the part that they are", () => {
    const [matched, accepted, opened] = CAMPAIGN_COUNTS;
    const counts = { matched: 1200, accepted: 1188, opened: 0 };
    assert.deepEqual([matched, accepted, opened].map((each) => countWords(counts, each)),
        [["1,200", ""], ["1,188", "99.0 %"], ["0", "0.0 %"]]);
    assert.deepEqual(countWords({ matched: 0, accepted: 0 }, accepted), ["0", ""]);
    assert.deepEqual(["WEB_PUSH", "new"].map(platformWords), ["Web Push", "new"]);
    assert.equal(dateUTC(Date.UTC(2026, 10, 24, 23, 59)), "2026-11-24");
    assert.equal(dateHour(Date.UTC(2026, 10, 24, 23)).length, "2026-11-24 23:00".length);
});

test("A moment survives the field that a person edits it in", () => {
    const moment = Date.UTC(2026, 10, 24, 21, 40, 5);
    assert.equal(millisecondsOf(localText(moment)), moment);
    assert.equal(dateTime(moment).length, "2026-11-24 21:40:05".length);
    assert.equal(millisecondsOf(""), undefined);
    assert.equal(localText(undefined), "");
});

test("An address is read as it was written", () => {
    const query = { reason: "a&b=c?#", app: '"><img src=x onerror=alert(1)>' };
    assert.deepEqual(parseRoute(formatRoute("dead-letters", "id/1 ?", query)),
        { view: "dead-letters", id: "id/1 ?", query });
    assert.deepEqual(parseRoute(""), { view: "now", id: "", query: {} });
    assert.equal(parseRoute("#/find/%").id, "%");
    assert.equal(formatQuery({ a: "", b: undefined, c: null, d: 0, e: "x + y" }), "d=0&e=x%20%2B%20y");
});

test("A filter has known members only, and times as numbers", () => {
    assert.deepEqual(filterOf({ reason: "x", sinceMilliseconds: "12", untilMilliseconds: "x", other: "y", app: "" }),
        { reason: "x", sinceMilliseconds: 12 });
    assert.equal(shortId("0123456789abcdef"), "0123456789ab");
    assert.equal(filterWords({}, dateTime), "every dead letter of every app");
    assert.equal(filterWords({ reason: "no-token", app: "chat" }, dateTime), "reason no-token, app chat");
});

test("Polling backs off after failures, obeys the server, and ends while nobody looks", () => {
    const schedule = new PollSchedule(5, () => 1);
    assert.equal(schedule.delaySeconds, 5);
    const delays = Array.from({ length: 6 }, () => {
        schedule.failed();
        return schedule.delaySeconds;
    });
    assert.deepEqual(delays, [10, 20, 40, 60, 60, BACK_OFF_SECONDS_MAXIMUM]);
    schedule.failed(120);
    assert.equal(schedule.delaySeconds, 120);
    schedule.succeeded();
    assert.equal(schedule.delaySeconds, 5);
    schedule.isHidden = true;
    assert.equal(schedule.delaySeconds, null);
    assert.equal(new PollSchedule(0).delaySeconds, null);
});

test("The value axis ends at a round number that holds every value", () => {
    assert.deepEqual(valueTicks(0), [0, 0.25]);
    assert.deepEqual(valueTicks(999), [0, 250, 500, 750, 1000]);
    assert.deepEqual(valueTicks(4.6), [0, 2, 4, 6]);
    for (let exponent = -6; exponent < 12; exponent += 1) {
        for (const factor of [1, 1.01, 3.7, 9.99]) {
            const ticks = valueTicks(factor * 10 ** exponent);
            assert.ok(ticks.at(-1) >= factor * 10 ** exponent * 0.9999 && ticks.length <= 6,
                `${factor}e${exponent}: ${ticks}`);
        }
    }
});

test("The time axis has whole steps, no more than there is room for", () => {
    assert.deepEqual(timeTicks(1_000, 61_000, 3), [30_000, 60_000]);
    assert.ok(timeTicks(0, 1e12, 4).length > 0);
    const quarter = 92 * 86_400_000;
    assert.ok(timeTicks(0, quarter, 5).length <= 5);
});

test("A line has a gap where there is no value, and where no data came", () => {
    const points = [0, 5, 10, 15, 60, 65].map((second) =>
        ({ atMilliseconds: second * 1000, value: second === 10 ? undefined : 1 }));
    const path = linePath(points, "value", (moment) => moment / 1000, (value) => value, 15_000);
    assert.equal(path, "M0.0 1.0L5.0 1.0M15.0 1.0M60.0 1.0L65.0 1.0");
});

test("The point at the pointer is the nearest one", () => {
    const points = [{ atMilliseconds: 0 }, { atMilliseconds: 10 }, { atMilliseconds: 20 }];
    assert.deepEqual([-5, 4, 6, 100].map((moment) => nearest(points, moment)), [0, 0, 1, 2]);
    assert.equal(nearest([], 1), null);
});

test("What needs a person is told once for all workers that have it", () => {
    const check = { name: "apns", ok: false, reason: "key refused" };
    const away = { name: "apns", ok: false, onlyDegrades: true, reason: "APNs is away" };
    const paused = { name: "paused", ok: false, onlyDegrades: true, reason: "an operator has paused all apps" };
    const services = { name: "services", ok: false, onlyDegrades: true, reason: "chat: APNs answers no push" };
    const worker = (id, state, readiness = []) => ({ id, kind: "worker", state, readiness });
    const now = {
        problems: ["RabbitMQ does not answer."], pauses: [{ reason: "update", user: "mei" }, { app: "chat" }],
        apps: [
            { name: "mail", state: "failing", reasons: [{ reason: "key refused" }, { reason: "key refused" }] },
            { name: "chat", state: "ok" },
        ],
        workers: [worker("a", "failing", [check]), worker("b", "failing", [check]), worker("c", "stale"),
            worker("d", "ready", [away, paused, services])],
        deadLetters: { waiting: 1 },
    };
    assert.deepEqual(findings(now).map(({ text }) => text), [
        "RabbitMQ does not answer.", "App mail: key refused", "Not ready, apns: key refused (2 processes)",
        "Degraded, apns: APNs is away (d)",
        "All apps are paused: update (by mei).", "The app chat is paused.",
        "c has stopped reporting: it ended, or cannot reach the registry.", "1 dead letter not collected yet.",
    ]);
});

test("Apps with the same trouble are one finding, which names a few of them", () => {
    const failing = (name, reason) => ({ name, state: "failing", reasons: [{ worker: "a", reason }] });
    const apps = [...Array(256).keys()].map((index) => failing(`app-${index}`, "APNs cannot be reached"));
    const workers = [{ id: "a", kind: "worker", state: "ready" }];
    const found = findings({ workers, apps: [failing("x", "slow"), ...apps] });
    assert.deepEqual(found.map(({ text }) => text),
        ["App x: slow", "Apps app-0, app-1, app-2, 253 more: APNs cannot be reached"]);
});

test("Of many apps the first are shown, or those that a filter finds by name, state and reason", () => {
    const apps = [...Array(256).keys()].map((index) => ({
        name: `app-${index}`, state: index < 3 ? "failing" : "ok",
        reasons: index < 3 ? [{ reason: "APNs does not accept its credentials" }] : [], paused: index === 7,
    }));
    const names = (options) => shownApps(apps, options).shown.map(({ name }) => name);
    assert.equal(names().length, 50);
    assert.equal(shownApps(apps).leftOut, 206);
    assert.equal(names({ isWhole: true }).length, 256);
    assert.deepEqual(names({ filter: "APP-25", isWhole: false }),
        ["app-25", "app-250", "app-251", "app-252", "app-253", "app-254", "app-255"]);
    assert.deepEqual(names({ filter: " failing  credentials " }), ["app-0", "app-1", "app-2"]);
    assert.deepEqual(names({ filter: "paused" }), ["app-7"]);
    assert.deepEqual(shownApps([], { filter: "x" }), { shown: [], leftOut: 0 });
});

test("The connections of many apps are told together", () => {
    const connections = [...Array(256).keys()].map((index) => ({ app: `${index}`, open: 2, streamsInUse: 1 }));
    assert.deepEqual(connectionSums(connections.slice(0, 4)), connections.slice(0, 4));
    assert.deepEqual(connectionSums(connections), [{ app: "256 apps", open: 512, streamsInUse: 256 }]);
    assert.deepEqual(connectionSums(undefined), []);
});

test("Nothing needs a person while a worker is ready, and something does without one", () => {
    assert.deepEqual(findings({ workers: [{ id: "a", kind: "worker", state: "ready" }] }), []);
    assert.match(findings({ workers: [{ id: "r", kind: "registry", state: "ready" }] })[0].text, /No worker reports/);
});

test("Progress is told in words, and an unknown state as it is", () => {
    assert.equal(progressWords({ selected: 1200, done: 300, refused: 2 }),
        "300 of 1,200, 2 refused");
    assert.equal(progressWords({ done: 7 }), "7");
    assert.deepEqual(stateWords("new-state"), ["", "new-state"]);
});

test("the end of a test push is told in a sentence", () => {
    assert.deepEqual(endWords({ pushes: [] }), ["", "RabbitMQ has the event; no push of it has ended yet."]);
    assert.equal(endWords({ pushes: [{ outcome: "accepted" }] })[0], "good");
    assert.deepEqual(
        endWords({ pushes: [{ outcome: "retrying", reason: "throttled" }] }),
        ["warn", "It waits for another attempt: throttled."]);
    assert.deepEqual(
        endWords({ wholeEvent: [{ outcome: "expired" }] }), ["bad", "It ended as expired."]);
});

test("An event to explain is sent as it was typed", () => {
    assert.equal(explainRequest('d"1', "", '{"n":9223372036854775807}'),
        '{"deviceId":"d\\"1","event":{"n":9223372036854775807}}');
    assert.equal(explainRequest("d", "ab", ""), '{"deviceId":"d","deadLetterId":"ab"}');
    assert.throws(() => explainRequest("d", "ab", "{}"), /not both/);
    assert.throws(() => explainRequest("d", "", ""), /Give a dead letter/);
    assert.throws(() => explainRequest("d", "", '{"a":1},"deviceId":"e"'), /not JSON/);
});
