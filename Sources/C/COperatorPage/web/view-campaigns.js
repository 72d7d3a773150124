// Campaigns: what became of their pushes, in all.

import { get } from "./api.js";
import { COUNT_COLUMNS, countWords } from "./campaigns.js";
import { tell } from "./dialogs.js";
import { button, h, listen, renew, table } from "./dom.js";
import { dateHour } from "./format.js";
import { formatQuery, formatRoute } from "./route.js";
import { CAMPAIGN_COUNTS } from "./words.js";

const PAGE_COUNT = 50;
/// Counts of hours need no look each few seconds.
export const CAMPAIGN_POLL_SECONDS = 30;

export class CampaignsView {
    constructor(page) {
        this.page = page;
        this.isPolled = true;
        this.pollSeconds = CAMPAIGN_POLL_SECONDS;
        this.campaigns = [];
        // Pages that were asked for besides the newest one.
        this.older = [];
        this.app = "";
        this.form = this.#makeForm();
        this.list = h("div", { class: "list" });
        this.element = h("div", { class: "campaigns" }, h("h1", {}, "Campaigns"),
            h("p", { class: "lead" }, "What became of pushes, counted by what asked for them. Counts name nobody."),
            this.form, this.list);
        listen(this.element, { older: () => this.#more() });
    }

    #makeForm() {
        const app = h("select", { name: "app" });
        const form = h("form", { class: "card filter", role: "search", "aria-label": "Filter of campaigns" },
            h("label", { class: "field" }, "App", app),
            h("div", { class: "buttons" }, h("button", { type: "submit", class: "primary" }, "Filter")));
        form.addEventListener("submit", (event) => {
            event.preventDefault();
            this.page.go("campaigns", "", { app: app.value });
        });
        return form;
    }

    route({ query }) {
        const app = query.app ?? "";
        if (app !== this.app) {
            this.campaigns = [];
            this.older = [];
            this.next = undefined;
            renew(this.list);
        }
        this.app = app;
        // An app that was removed from the configuration still has campaigns.
        const apps = new Set([...this.page.session.apps, app]);
        apps.delete("");
        renew(this.form.elements.app, h("option", { value: "" }, "Any app"),
            [...apps].map((each) => h("option", { value: each }, each)));
        this.form.elements.app.value = app;
    }

    async load(isCurrent) {
        const answer = await get(`campaigns?${formatQuery({ app: this.app, limit: PAGE_COUNT })}`);
        if (!isCurrent()) return;
        this.campaigns = answer.campaigns;
        this.problem = answer.problem;
        if (this.older.length === 0) this.next = answer.next;
        this.#draw();
    }

    async #more() {
        const { app } = this;
        try {
            const answer = await get(`campaigns?${formatQuery({ app, before: this.next, limit: PAGE_COUNT })}`);
            if (app !== this.app) return;
            this.older.push(...answer.campaigns);
            this.next = answer.next;
            this.#draw();
        } catch (error) {
            tell("That did not work", error.message);
        }
    }

    #draw() {
        const newest = new Set(this.campaigns.map(({ number }) => number));
        const all = [...this.campaigns, ...this.older.filter(({ number }) => !newest.has(number))];
        renew(this.list, this.problem ? h("p", { class: "card finding warn" }, this.problem)
            : all.length === 0
                ? h("p", { class: "card empty" }, "No push was counted yet. An event push.requested names its ",
                    "campaign in data.campaign; datasets and record subscriptions are counted by themselves.")
                : campaignTable(all),
            this.next !== undefined && h("p", { class: "more" }, button("older", "Older campaigns")));
    }
}

function campaignTable(campaigns) {
    const columns = [{ label: "Campaign" }, ...COUNT_COLUMNS, { label: "First", isTime: true },
        { label: "Last", isTime: true }];
    return table("Campaigns", columns, campaigns.map((campaign) => ({ key: campaign.number, cells: [
        [h("a", { class: "name", href: formatRoute("campaigns", campaign.name, { app: campaign.app }) }, campaign.name),
            h("small", { class: "muted" }, ` ${campaign.app}`)],
        ...countCells(campaign), dateHour(campaign.firstMilliseconds), dateHour(campaign.lastMilliseconds),
    ] })));
}

/// The cells of the columns `COUNT_COLUMNS`.
export function countCells(counts) {
    return CAMPAIGN_COUNTS.map((each) => {
        const [number, part] = countWords(counts, each);
        return [number, part && h("small", { class: "muted" }, ` ${part}`)];
    });
}
