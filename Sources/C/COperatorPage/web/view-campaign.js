// One campaign: its sums, its hours or days, its platforms.

import { get, RequestError } from "./api.js";
import { COUNT_COLUMNS, countWords, timelineOf } from "./campaigns.js";
import { LineChart } from "./chart.js";
import { chip, h, renew, table } from "./dom.js";
import { count, dateHour, dateUTC, shortCount } from "./format.js";
import { formatQuery, formatRoute } from "./route.js";
import { CAMPAIGN_POLL_SECONDS, countCells } from "./view-campaigns.js";
import { CAMPAIGN_COUNTS, platformWords } from "./words.js";

const PERIODS = { hour: "Its last two weeks, by hour", day: "Its last three months, by day of UTC" };
// The pixels of a date with a time, and of a date.
const TIME_WIDTHS = { hour: 74, day: 36 };

export class CampaignView {
    constructor(page) {
        this.page = page;
        this.isPolled = true;
        this.pollSeconds = CAMPAIGN_POLL_SECONDS;
        this.by = "hour";
        this.platform = "";
        this.charts = [["Accepted and opened", ["accepted", "opened"], true],
            ["Not delivered", ["tokenDead", "expired", "deadLettered"], false]]
            .map(([title, keys, isFilled]) => this.#makeChart(title, keys, isFilled));
        this.heading = h("div", {});
        this.form = this.#makeForm();
        this.tiles = h("div", { class: "tiles" });
        this.rest = h("div", { class: "rest" });
        this.known = h("div", {}, this.form, this.tiles,
            h("div", { class: "charts" }, this.charts.map(({ element }) => element)), this.rest);
        this.element = h("div", { class: "campaign" },
            h("p", { class: "back" }, h("a", { href: formatRoute("campaigns") }, "← Campaigns")),
            this.heading, this.known);
    }

    #makeChart(title, keys, isFilled) {
        return new LineChart({
            title, isFilled, lines: CAMPAIGN_COUNTS.filter(({ key }) => keys.includes(key)), format: count,
            formatTick: shortCount, formatMoment: (moment) => this.#time(moment), least: 4,
            formatTime: (moment) => this.#time(moment).slice(5),
        });
    }

    #makeForm() {
        this.platforms = h("select", { name: "platform" }, h("option", { value: "" }, "All"));
        const periods = h("select", { name: "by" },
            Object.entries(PERIODS).map(([value, label]) => h("option", { value }, label)));
        const form = h("form", { class: "card filter", "aria-label": "What is shown" },
            h("label", { class: "field" }, "Platform", this.platforms),
            h("label", { class: "field wide" }, "Time", periods));
        form.addEventListener("submit", (event) => event.preventDefault());
        this.platforms.addEventListener("change", () => {
            this.platform = this.platforms.value;
            this.#draw();
            this.page.announce(`Shown: ${this.platform ? platformWords(this.platform) : "all platforms"}.`);
        });
        periods.addEventListener("change", () => {
            this.page.go("campaigns", this.name, { app: this.app, by: periods.value === "hour" ? "" : periods.value });
        });
        return form;
    }

    route({ id, query }) {
        const { app = "", by = "hour" } = query;
        const isOther = id !== this.name || app !== this.app;
        if (isOther) this.platform = "";
        if (isOther || by !== this.by) this.answer = null;
        Object.assign(this, { name: id, app, by });
        this.form.elements.by.value = by;
        renew(this.heading, this.#title());
        this.known.hidden = this.answer === null;
    }

    close() {
        this.charts.forEach((chart) => chart.close());
    }

    async load(isCurrent) {
        const { app, name, by } = this;
        try {
            const answer = await get(`campaigns/show?${formatQuery({ app, name, by })}`);
            if (!isCurrent()) return;
            this.answer = answer;
            this.#draw();
        } catch (error) {
            if (!(error instanceof RequestError) || error.status !== 404 || !isCurrent()) throw error;
            this.known.hidden = true;
            renew(this.heading, this.#title(),
                h("p", { class: "card empty" }, "Nothing is counted of such a campaign, or not any more. ",
                    error.message));
        }
    }

    #title() {
        return h("h1", {}, `${this.name} `, this.app && chip("", this.app));
    }

    #time(moment) {
        return this.answer?.by === "day" ? dateUTC(moment) : dateHour(moment);
    }

    #draw() {
        const { answer } = this;
        this.#drawPlatforms();
        const timeline = timelineOf(answer, this.platform);
        this.known.hidden = false;
        for (const chart of this.charts) {
            chart.timeWidth = TIME_WIDTHS[answer.by];
            chart.update(timeline.points, timeline.step / 1000);
        }
        renew(this.tiles, tiles(timeline.sums));
        renew(this.rest, this.#shares(), this.#steps(timeline));
    }

    /// Offers the platforms that there are; the chosen one stays.
    #drawPlatforms() {
        const names = [...new Set([...this.answer.platforms.map(({ platform }) => platform), this.platform])];
        renew(this.platforms, h("option", { value: "" }, "All"),
            names.filter(Boolean).map((name) => h("option", { value: name }, platformWords(name))));
        this.platforms.value = this.platform;
    }

    #steps({ parts }) {
        const isDay = this.answer.by === "day";
        const columns = [{ label: isDay ? "Day of UTC" : "Hour", isTime: true }, ...COUNT_COLUMNS];
        const which = this.platform ? `, ${platformWords(this.platform)}` : "";
        return section(`By ${isDay ? "day" : "hour"}${which}`, "steps",
            parts.length === 0 ? h("p", { class: "card empty" }, "Nothing was counted in this time.")
                : table("Counts over time", columns, [...parts].reverse().map((part) => ({
                    key: part.atMilliseconds, cells: [this.#time(part.atMilliseconds), ...countCells(part)] }))));
    }

    #shares() {
        const columns = [{ label: "Platform" }, ...COUNT_COLUMNS];
        return section("By platform", "platforms",
            table("Counts by platform", columns, this.answer.platforms.map((each) => ({
                key: each.platform, cells: [h("b", {}, platformWords(each.platform)), ...countCells(each)] }))));
    }
}

function section(title, key, content) {
    return h("section", { "data-key": key }, h("div", { class: "heading" }, h("h2", {}, title)), content);
}

function tiles(sums) {
    const byKey = Object.fromEntries(CAMPAIGN_COUNTS.map((each) => [each.key, countWords(sums, each)]));
    const lost = sums.tokenDead + sums.expired + sums.deadLettered;
    const words = (key, of) => [byKey[key][0], byKey[key][1] ? `${byKey[key][1]} of ${of}` : "no push yet"];
    return [
        tile("Matched", byKey.matched[0], "devices that events found"),
        tile("Accepted", ...words("accepted", "matched")), tile("Opened", ...words("opened", "accepted")),
        tile("Not delivered", count(lost), `${byKey.tokenDead[0]} dead, ${byKey.expired[0]} expired, `
            + `${byKey.deadLettered[0]} dead-lettered`),
        tile("Coalesced", byKey.coalesced[0], "a newer push said the same"),
    ];
}

function tile(label, value, detail) {
    return h("div", { class: "card tile" }, h("span", { class: "label" }, label), h("strong", {}, value),
        h("small", {}, detail));
}
