// The present state of all workers together.

import { get, post } from "./api.js";
import { connectionSums, FILTER_MINIMUM, shownApps } from "./apps.js";
import { LineChart } from "./chart.js";
import { ask, tell } from "./dialogs.js";
import { button, chip, h, listen, renew, table } from "./dom.js";
import { age, count, counted, dateTime, duration, rate } from "./format.js";
import { formatRoute } from "./route.js";
import { cancelFanOut, fanOutTable, isOver } from "./view-fan-outs.js";
import { findings, OUTCOMES, stateWords } from "./words.js";

const REASON_CHARACTERS_MAXIMUM = 200;

export class NowView {
    constructor(page) {
        this.page = page;
        this.isPolled = true;
        this.charts = [
            new LineChart({ title: "Pushes a second", lines: OUTCOMES.slice(0, 2), format: rate, isFilled: true }),
            new LineChart({ title: "Not accepted, a second", lines: OUTCOMES.slice(2), format: rate }),
            new LineChart({
                title: "Event lag", format: duration,
                lines: [{ key: "p50Seconds", label: "p50", color: 1 }, { key: "p99Seconds", label: "p99", color: 4 }],
            }),
        ];
        this.findings = h("div", { class: "findings" });
        this.tiles = h("div", { class: "tiles" });
        this.rest = h("div", { class: "rest" });
        this.element = h("div", { class: "now" }, h("h1", { class: "hidden" }, "Now"), this.findings, this.tiles,
            h("div", { class: "charts" }, this.charts.map((chart) => chart.element)), this.rest);
        this.filter = "";
        this.isWhole = false;
        this.element.addEventListener("input", ({ target }) => {
            if (target.name !== "apps") return;
            this.filter = target.value;
            this.#draw();
        });
        listen(this.element, {
            pause: ({ app }) => this.#pause(app),
            resume: ({ app }) => this.#resume(app),
            "all-apps": () => {
                this.isWhole = true;
                this.#draw();
            },
            cancel: ({ number }) => cancelFanOut(page, number, this.now.fanOuts),
        });
    }

    route() {}

    close() {
        this.charts.forEach((chart) => chart.close());
    }

    async load(isCurrent) {
        const now = await get("now");
        if (!isCurrent()) return;
        this.page.noteClock(now.nowMilliseconds);
        this.#announceChange(now);
        this.now = now;
        this.charts.forEach((chart) => chart.update(now.series ?? [], now.intervalSeconds));
        this.#draw();
    }

    get #canPause() {
        return this.page.session.canAct && this.now.pauses !== undefined;
    }

    /// Says what begins or ends to need a person, not each new number.
    #announceChange(now) {
        const before = new Set(this.now ? findings(this.now).map((each) => each.text) : []);
        const after = findings(now).map((each) => each.text);
        const fresh = after.filter((text) => !before.has(text));
        if (fresh.length > 0) this.page.announce(fresh.join(" "));
        else if (before.size > 0 && after.length === 0) this.page.announce("Nothing needs you any more.");
    }

    #draw() {
        const found = findings(this.now);
        renew(this.findings, found.length === 0
            ? h("p", { class: "finding good" }, "All is well: workers are ready, and apps are served.")
            : h("ul", { class: "card" }, found.map(({ kind, text }) => h("li", { class: `finding ${kind}` }, text))));
        renew(this.tiles, this.#tiles());
        renew(this.rest, this.#apps(), this.#workers(), this.#queues(), this.#fanOuts());
    }

    #tiles() {
        const { rates = {}, lag = {}, totals = {}, queues = {}, deadLetters = {}, workers = [] } = this.now;
        const list = queues.list ?? [];
        const ready = (kind) => list.filter((each) => each.kind === kind).reduce((sum, each) => sum + each.ready, 0);
        const all = workers.filter(({ kind }) => kind === "worker");
        const readyCount = all.filter(({ state }) => state === "ready").length;
        const letters = (deadLetters.collected ?? 0) + (deadLetters.waiting ?? 0);
        const isKnown = queues.status === "ok" && !queues.reason;
        return [
            tile("Accepted", `${rate(rates.accepted)}/s`, `${count(totals.accepted)} since start`),
            tile("Event lag p99", duration(lag.p99Seconds),
                `p50 ${duration(lag.p50Seconds)}, last ${lag.windowSeconds ?? 60} s`),
            tile("In flight", count(totals.inFlight), "pushes without an answer yet"),
            tile("Waiting", isKnown ? count(ready("work") + ready("fan-out") + ready("retry")) : "–", isKnown
                ? [counted(ready("work"), "event"), `${count(ready("retry"))} retried`,
                    counted(ready("fan-out"), "chunk")].join(", ")
                : "RabbitMQ does not say"),
            tile("Dead letters", count(letters), deadLetters.waiting === undefined ? "RabbitMQ does not say how many more"
                : `${count(deadLetters.waiting)} not collected`,
                letters > 0 ? "warn" : "", formatRoute("dead-letters")),
            tile("Workers ready", `${readyCount} of ${all.length}`, oldest(all),
                readyCount < all.length || readyCount === 0 ? "bad" : ""),
        ];
    }

    #apps() {
        const { apps = [], pauses = [] } = this.now;
        const everything = pauses.find((pause) => pause.app === undefined);
        const columns = [
            { label: "App" }, { label: "State" }, { label: "Accepted/s", isNumber: true },
            { label: "Retried/s", isNumber: true }, { label: "In flight", isNumber: true },
            { label: "Connections", isNumber: true }, { label: "Why" },
            ...(this.#canPause ? [{ label: h("span", { class: "hidden" }, "Action") }] : []),
        ];
        const { shown, leftOut } = shownApps(apps, this);
        const rows = shown.map((app) => {
            const pause = pauses.find((each) => each.app === app.name) ?? everything;
            const [kind, word] = stateWords(pause ? "paused" : app.state);
            return { key: app.name, cells: [
                h("b", {}, app.name), chip(kind, word), rate(app.rates?.accepted), rate(app.rates?.retried),
                count(app.inFlight), count(app.connections), whyOf(app, pause),
                ...(this.#canPause ? [this.#pauseButton(app, pause, everything)] : []),
            ] };
        });
        return section("Apps", this.#canPause && (everything
            ? button("resume", "Resume all") : button("pause", "Pause all …")), [
            apps.length >= FILTER_MINIMUM && h("input", {
                type: "search", name: "apps", placeholder: "Filter by name, state or reason", "data-key": "filter",
                "aria-label": `Filter of ${counted(apps.length, "app")}`,
            }),
            table("Apps", columns, rows, { "data-key": "apps" }),
            leftOut > 0 && h("p", { class: "card empty", "data-key": "left-out" },
                `${counted(leftOut, "more app")}, with no more trouble than these. `, button("all-apps", "Show all")),
        ]);
    }

    #pauseButton(app, pause, everything) {
        if (!pause) return button("pause", "Pause …", { app: app.name }, { "aria-label": `Pause ${app.name} …` });
        if (pause === everything) return "";
        return button("resume", "Resume", { app: app.name }, { "aria-label": `Resume ${app.name}` });
    }

    #workers() {
        const columns = [
            { label: "Process" }, { label: "State" }, { label: "Data from" }, { label: "Accepted/s", isNumber: true },
            { label: "Lag p99", isNumber: true }, { label: "In flight", isNumber: true },
            { label: "Unsettled", isNumber: true }, { label: "Connections" }, { label: "Version" },
            { label: "Running for" },
        ];
        const rows = (this.now.workers ?? []).map((worker) => {
            const [kind, word] = worker.consumerPaused && worker.state === "ready" ? ["warn", "Not consuming"]
                : stateWords(worker.state);
            return { key: worker.id, attributes: { class: worker.state === "stale" && "old" }, cells: [
                h("b", {}, worker.id, worker.kind === "registry" && h("small", {}, " registry API")), chip(kind, word),
                since(worker.reportedAtMilliseconds, " ago"), rate(worker.rates?.accepted),
                duration(worker.lag?.p99Seconds), count(worker.inFlight), count(worker.unsettledDeliveries),
                connectionsOf(worker), worker.version, since(worker.startedAtMilliseconds),
            ] };
        });
        return section("Workers", null, table("Workers", columns, rows));
    }

    #queues() {
        const { queues = {} } = this.now;
        if (queues.status !== "ok") {
            return section("Queues", null, h("p", { class: "card finding bad" },
                queues.reason ?? "This process does not ask RabbitMQ."));
        }
        const isManaged = queues.source === "management";
        const columns = [
            { label: "Queue" }, { label: "Ready", isNumber: true },
            ...(isManaged ? [{ label: "Unacknowledged", isNumber: true }] : []),
            { label: "Consumers", isNumber: true },
            ...(isManaged ? [{ label: "Oldest", isNumber: true }] : []), { label: "What waits there" },
        ];
        const most = Math.max(1, ...queues.list.filter(({ kind }) => kind === "retry").map(({ ready }) => ready));
        const rows = queues.list.map((queue) => ({ key: queue.name, cells: [
            h("b", {}, queue.name), count(queue.ready), ...(isManaged ? [count(queue.unacknowledged)] : []),
            count(queue.consumers), ...(isManaged ? [age(queue.oldestSeconds)] : []), meaningOf(queue, most),
        ] }));
        return section("Queues", h("small", { class: "muted" }, "Data from ", since(queues.atMilliseconds, " ago")),
            h("div", {}, queues.reason && h("p", { class: "card finding bad" }, queues.reason),
                table("Queues", columns, rows)));
    }

    #fanOuts() {
        const fanOuts = (this.now.fanOuts ?? []).filter((fanOut) => !isOver(fanOut));
        return section("Fan-outs", h("a", { href: formatRoute("fan-outs") }, "All fan-outs"), fanOuts.length === 0
            ? h("p", { class: "card empty" }, "No large fan-out is under way.")
            : fanOutTable(fanOuts, this.page.session.canAct));
    }

    async #pause(app) {
        const name = app === undefined ? "all apps" : `the app ${app}`;
        const reason = await ask({
            title: `Pause ${name}?`, confirm: "Pause",
            input: { label: "Reason, for colleagues", maximum: REASON_CHARACTERS_MAXIMUM },
            content: h("p", {}, "Nothing is lost: events wait in RabbitMQ until somebody resumes, also over restarts. ",
                "An event that expires meanwhile is not sent."),
        });
        if (reason === null) return;
        await this.#act("pauses", { app: app ?? null, reason }, `${name} paused`);
    }

    async #resume(app) {
        await this.#act("pauses/resume", { app: app ?? null }, `${app === undefined ? "all apps" : `the app ${app}`} resumed`);
    }

    async #act(path, body, words) {
        try {
            await post(path, body);
            this.page.announce(`Done: ${words}.`);
        } catch (error) {
            tell("That did not work", error.message);
        }
        this.page.reload();
    }
}

function tile(label, value, detail, kind = "", href = null) {
    const inner = [h("span", { class: "label" }, label), h("strong", {}, value), h("small", {}, detail)];
    return href ? h("a", { class: `card tile ${kind}`, href }, inner) : h("div", { class: `card tile ${kind}` }, inner);
}

function section(title, aside, content) {
    return h("section", { "data-key": title },
        h("div", { class: "heading" }, h("h2", {}, title), aside), content);
}

/// The age of a moment, which goes on by itself.
function since(milliseconds, suffix = "") {
    if (milliseconds === undefined) return "–";
    return h("span", { title: dateTime(milliseconds) }, h("span", { "data-since": milliseconds }, "…"), suffix);
}

function oldest(workers) {
    const reported = workers.filter(({ state }) => state !== "stale").map((worker) => worker.reportedAtMilliseconds);
    return reported.length === 0 ? "no data" : ["oldest data ", since(Math.min(...reported), " ago")];
}

function whyOf(app, pause) {
    if (pause) return [pause.reason ?? "", pause.user ? h("small", { class: "muted" }, ` ${pause.user}`) : ""];
    const counts = new Map();
    for (const { reason } of app.reasons ?? []) counts.set(reason, (counts.get(reason) ?? 0) + 1);
    return [...counts].map(([reason, workers]) =>
        h("div", {}, reason, h("small", { class: "muted" }, ` ${counted(workers, "worker")}`)));
}

function connectionsOf(worker) {
    return connectionSums(worker.connections).map(({ app, environment, open, streamsInUse }) => {
        const detail = [environment, counted(streamsInUse, "stream")].filter(Boolean).join(", ");
        return h("div", {}, `${app} ${open} `, h("small", { class: "muted" }, detail));
    });
}

function meaningOf(queue, most) {
    const meanings = {
        work: "events for the workers", "fan-out": "chunks of large fan-outs",
        "dead-letter": "dead letters, not collected yet",
    };
    if (queue.kind !== "retry") return meanings[queue.kind] ?? "";
    return h("span", { class: "step" }, `retries, each after ${duration(queue.delaySeconds)}`,
        queue.ready > 0 && h("progress", { class: "thin", max: most, value: queue.ready,
            "aria-label": `${queue.name}: ${queue.ready}` }));
}
