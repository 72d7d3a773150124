// Dead letters: which there are, and what to do with some of them.

import { get, post } from "./api.js";
import { tell } from "./dialogs.js";
import { button, h, listen, renew } from "./dom.js";
import { count, counted, dateTime, localText, millisecondsOf } from "./format.js";
import { actOnLetters, countTable, filterOf, letterTable } from "./letters.js";
import { formatQuery, formatRoute } from "./route.js";
import { filterWords } from "./words.js";

const PAGE_COUNT = 50;
const SELECTED_MAXIMUM = 200;

export class LettersView {
    constructor(page) {
        this.page = page;
        this.isPolled = false;
        this.selected = new Set();
        this.letters = [];
        this.form = this.#makeForm();
        this.summary = h("div", { class: "summary" });
        this.counts = h("div", { class: "counts" });
        this.bar = h("div", { class: "acts", role: "group", "aria-label": "Acts" });
        this.list = h("div", {});
        this.element = h("div", { class: "letters" }, h("h1", {}, "Dead letters"),
            h("p", { class: "lead" }, "Events and pushes that need a person. Nothing is sent for them until a replay."),
            this.form, this.summary, this.counts, this.bar, this.list);
        listen(this.element, {
            refresh: () => page.reload(), clear: () => page.go("dead-letters"), more: () => this.#more(),
            collect: () => this.#collect(), unselect: () => this.#unselect(),
            replay: ({ scope }) => this.#act("replay", scope), purge: ({ scope }) => this.#act("purge", scope),
        });
        this.list.addEventListener("change", (event) => this.#select(event.target));
    }

    #makeForm() {
        const field = (label, name, attributes = {}) => h("label", { class: "field" }, label, h("input", {
            name, type: "text", autocomplete: "off", spellcheck: "false", ...attributes }));
        this.reasons = h("datalist", { id: "reasons" });
        const form = h("form", { class: "card filter", role: "search", "aria-label": "Filter of dead letters" },
            field("Reason", "reason", { list: "reasons" }), field("App", "app", { list: "apps" }),
            field("Event type", "type", { placeholder: "dataset.changed" }), field("Event id", "eventId"),
            field("Source", "source"), field("Letter id", "id", { placeholder: "begins with" }),
            field("Since", "sinceMilliseconds", { type: "datetime-local", step: "1" }),
            field("Before", "untilMilliseconds", { type: "datetime-local", step: "1" }),
            this.reasons, h("datalist", { id: "apps" },
                this.page.session.apps.map((app) => h("option", { value: app }))),
            h("div", { class: "buttons" }, h("button", { type: "submit", class: "primary" }, "Filter"),
                button("clear", "Clear"), button("refresh", "Refresh")));
        form.addEventListener("submit", (event) => {
            event.preventDefault();
            this.page.go("dead-letters", "", this.#typed());
        });
        return form;
    }

    #typed() {
        const values = Object.fromEntries(new FormData(this.form));
        return { ...values, sinceMilliseconds: millisecondsOf(values.sinceMilliseconds),
            untilMilliseconds: millisecondsOf(values.untilMilliseconds) };
    }

    route({ query }) {
        const filter = filterOf(query);
        if (JSON.stringify(filter) !== JSON.stringify(this.filter)) {
            this.selected.clear();
            this.letters = [];
            for (const part of [this.summary, this.counts, this.bar, this.list]) renew(part);
        }
        this.filter = filter;
        for (const input of this.form.querySelectorAll("input")) {
            const value = filter[input.name];
            input.value = input.type === "datetime-local" ? localText(value) : value ?? "";
        }
    }

    async load(isCurrent) {
        const [counts, page] = await Promise.all([
            get(`dead-letters/counts?${formatQuery(this.filter)}`),
            get(`dead-letters?${formatQuery({ ...this.filter, limit: PAGE_COUNT })}`)]);
        if (!isCurrent()) return;
        Object.assign(this, { overview: counts, letters: page.letters, next: page.next });
        this.#draw();
    }

    async #more() {
        try {
            const query = formatQuery({ ...this.filter, after: this.next, limit: PAGE_COUNT });
            const page = await get(`dead-letters?${query}`);
            this.letters = [...this.letters, ...page.letters];
            this.next = page.next;
            this.#draw();
        } catch (error) {
            tell("That did not work", error.message);
        }
    }

    #draw() {
        const { counts, total, waiting } = this.overview;
        const { canAct } = this.page.session;
        renew(this.reasons, [...new Set(counts.map(({ reason }) => reason))].map(
            (reason) => h("option", { value: reason })));
        renew(this.summary, h("p", {}, h("b", {}, counted(total, "letter")), ` ${total === 1 ? "matches" : "match"}: `,
            filterWords(this.filter, dateTime), "."), this.#waiting(waiting));
        renew(this.counts, counts.length > 1 && h("details", { open: true }, h("summary", {}, "By reason and app"),
            countTable(counts, (chosen) => formatRoute("dead-letters", "", { ...this.filter, ...chosen }))));
        this.#drawBar();
        renew(this.list, this.letters.length === 0
            ? h("p", { class: "card empty" }, Object.keys(this.filter).length === 0 ? "There is no dead letter."
                : "No letter matches the filter.")
            : letterTable(this.letters, { selected: canAct ? this.selected : undefined, query: this.filter }),
            this.next !== undefined && h("p", { class: "more" }, button("more", "More letters"),
                h("small", { class: "muted" }, ` ${count(this.letters.length)} of ${count(total)} are shown`)));
    }

    #waiting(waiting) {
        if (waiting === 0) return null;
        const words = waiting === undefined
            ? "RabbitMQ does not say whether its queue has more letters. "
            : `In RabbitMQ's queue, and not listed here yet: ${counted(waiting, "letter")}. `;
        return h("p", { class: "finding warn" }, words, this.page.canPublish && button("collect", "Collect"));
    }

    #drawBar() {
        const { total } = this.overview;
        const chosen = this.selected.size;
        if (!this.page.session.canAct || total === 0) {
            renew(this.bar);
            return;
        }
        const [scope, which, what] = chosen > 0
            ? ["selected", "selected", `${counted(chosen, "letter")} selected`]
            : ["filter", "all", `All ${counted(total, "letter")} of the filter`];
        renew(this.bar, h("b", {}, what),
            this.page.canPublish && button("replay", `Replay ${which} …`, { scope }),
            button("purge", `Purge ${which} …`, { scope }, { class: "danger" }),
            chosen > 0 && button("unselect", "Select none"));
    }

    #select(box) {
        const { id } = box.dataset;
        if (!id) return;
        if (!box.checked) this.selected.delete(id);
        else if (this.selected.size < SELECTED_MAXIMUM) this.selected.add(id);
        else {
            box.checked = false;
            tell("No more can be selected", `At most ${SELECTED_MAXIMUM} letters can be. A filter has no limit.`);
        }
        this.#drawBar();
    }

    #unselect() {
        this.selected.clear();
        this.#draw();
        this.list.querySelector("input")?.focus();
    }

    #act(action, scope) {
        const selection = scope === "selected" ? { ids: [...this.selected] } : { filter: this.filter };
        return actOnLetters(this.page, action, selection, () => this.#ended());
    }

    #ended() {
        this.selected.clear();
        if (this.page.view === this) this.page.reload();
    }

    async #collect() {
        try {
            const { action } = await post("dead-letters/collect");
            this.page.tray.follow(action, "Collect dead letters", () => this.page.view === this && this.page.reload());
        } catch (error) {
            tell("That did not work", error.message);
        }
    }
}
