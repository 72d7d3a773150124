// Starts the page: who is looking, which view, and when its data is asked for again.

import { get, RequestError } from "./api.js";
import { Tray } from "./dialogs.js";
import { h, renew } from "./dom.js";
import { age, timeOfDay } from "./format.js";
import { PollSchedule } from "./poll.js";
import { formatRoute, parseRoute } from "./route.js";
import { AuditView } from "./view-audit.js";
import { CampaignView } from "./view-campaign.js";
import { CampaignsView } from "./view-campaigns.js";
import { FanOutsView } from "./view-fan-outs.js";
import { FindView } from "./view-find.js";
import { LetterView } from "./view-letter.js";
import { LettersView } from "./view-letters.js";
import { NowView } from "./view-now.js";
import { SendView } from "./view-send.js";

const VIEWS = [
    { name: "now", title: "Now", View: NowView },
    { name: "dead-letters", title: "Dead letters", View: LettersView, Detail: LetterView },
    { name: "fan-outs", title: "Fan-outs", View: FanOutsView },
    { name: "campaigns", title: "Campaigns", View: CampaignsView, Detail: CampaignView },
    { name: "find", title: "Find", View: FindView },
    { name: "send", title: "Send and explain", View: SendView },
    { name: "audit", title: "Audit", View: AuditView },
];

const main = document.getElementById("main");
const trouble = document.getElementById("trouble");

class Page {
    constructor() {
        this.tray = new Tray(document.getElementById("tray"), (text) => this.announce(text));
        this.session = null;
        this.view = null;
        this.schedule = null;
        this.timer = 0;
        this.loadedAt = null;
        // Of the server's clock: ages are told by it, so a wrong clock here does no harm.
        this.clockOffset = 0;
        this.loads = 0;
    }

    /// Whether the process that serves the page can publish: `apus registry` knows no RabbitMQ.
    get canPublish() {
        return this.session.canAct && this.session.hasBroker !== false;
    }

    get now() {
        return Date.now() + this.clockOffset;
    }

    noteClock(nowMilliseconds) {
        if (nowMilliseconds !== undefined) this.clockOffset = nowMilliseconds - Date.now();
    }

    announce(text) {
        renew(document.getElementById("announcements"), text);
    }

    go(view, id, query) {
        const hash = formatRoute(view, id, query);
        if (hash === location.hash) this.reload();
        else location.hash = hash;
    }

    start() {
        document.querySelector(".skip").addEventListener("click", (event) => {
            event.preventDefault();
            main.focus();
        });
        addEventListener("hashchange", () => this.show());
        document.addEventListener("visibilitychange", () => this.#visibility());
        setInterval(() => this.#tick(), 1000);
        this.#begin();
    }

    async #begin() {
        try {
            this.session = await get("session");
            this.noteClock(this.session.nowMilliseconds);
        } catch (error) {
            this.#failed(error, () => this.#begin());
            return;
        }
        this.#showPerson();
        this.show();
    }

    #showPerson() {
        const { user, role, version } = this.session;
        renew(document.getElementById("person"),
            h("span", { title: `apus ${version}` }, `${user} `, h("small", {}, role)));
    }

    /// Shows the view of the address.
    show() {
        if (!this.session) return;
        const route = parseRoute(location.hash);
        const entry = VIEWS.find((each) => each.name === route.view) ?? VIEWS[0];
        renew(document.getElementById("views"), VIEWS.map(({ name, title }) => h("li", {},
            h("a", { href: formatRoute(name), "aria-current": name === entry.name && "page" }, title))));
        // On a phone the bar may be wider than the window.
        document.querySelector("[aria-current]").scrollIntoView({ block: "nearest", inline: "nearest" });
        document.title = `${entry.title} · Apus`;
        const View = (route.id && entry.Detail) || entry.View;
        if (!(this.view instanceof View)) {
            this.view?.close?.();
            this.view = new View(this);
            main.replaceChildren(this.view.element);
            scrollTo(0, 0);
        }
        this.view.route(route);
        this.loadedAt = null;
        this.schedule = new PollSchedule(this.view.isPolled ? this.#pollSeconds : 0);
        this.schedule.isHidden = document.hidden;
        this.reload();
    }

    /// A view may have data that changes slowly.
    get #pollSeconds() {
        return this.view.pollSeconds ?? this.session.pollSeconds;
    }

    /// Asks for the data of the view at once.
    async reload() {
        clearTimeout(this.timer);
        this.loads += 1;
        const load = this.loads;
        const isCurrent = () => load === this.loads;
        try {
            const isLoaded = await this.view.load(isCurrent);
            if (!isCurrent()) return;
            if (isLoaded !== false) this.loadedAt = Date.now();
            this.#recovered();
            this.schedule.succeeded();
        } catch (error) {
            if (!isCurrent()) return;
            this.schedule.failed(error.retryAfterSeconds);
            this.#failed(error, () => this.reload());
        }
        this.#plan();
        this.#tick();
    }

    #plan() {
        clearTimeout(this.timer);
        const seconds = this.schedule?.delaySeconds;
        if (seconds) this.timer = setTimeout(() => this.reload(), seconds * 1000);
    }

    #visibility() {
        if (!this.schedule) return;
        this.schedule.isHidden = document.hidden;
        if (document.hidden) clearTimeout(this.timer);
        else if (this.view.isPolled) this.reload();
    }

    #recovered() {
        if (trouble.childElementCount > 0) this.announce("The data is current again.");
        trouble.replaceChildren();
        main.classList.remove("old");
    }

    #failed(error, again) {
        if (!(error instanceof RequestError)) throw error;
        const seconds = this.schedule?.delaySeconds;
        const retry = h("button", { type: "button" }, "Try again");
        retry.addEventListener("click", again);
        const words = error.status === 401 ? "You are not logged in: reload the page. " : "";
        renew(trouble, h("p", {}, words, error.message, seconds ? ` Next try in ${age(seconds)}.` : ""));
        trouble.append(retry);
        main.classList.toggle("old", this.loadedAt !== null);
    }

    /// Ages go on while no data comes.
    #tick() {
        for (const element of document.querySelectorAll("[data-since]")) {
            const text = age((this.now - Number(element.dataset.since)) / 1000);
            if (element.textContent !== text) element.textContent = text;
        }
        const freshness = document.getElementById("freshness");
        if (this.loadedAt === null) {
            freshness.className = "freshness";
            renew(freshness, "");
            return;
        }
        const seconds = (Date.now() - this.loadedAt) / 1000;
        const isOld = this.view.isPolled && (this.schedule.failures > 0 || seconds > 3 * this.#pollSeconds);
        freshness.className = `freshness ${isOld ? "old" : this.view.isPolled ? "live" : "still"}`;
        renew(freshness, this.view.isPolled
            ? `${isOld ? "Old" : "Live"} · ${age(seconds)} ago`
            : `As of ${timeOfDay(this.loadedAt + this.clockOffset)}`);
    }
}

new Page().start();
