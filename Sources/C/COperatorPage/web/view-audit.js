// The audit log: actions, their users, and the number of things changed.

import { get } from "./api.js";
import { tell } from "./dialogs.js";
import { button, chip, h, listen, renew, table } from "./dom.js";
import { count, dateTime } from "./format.js";
import { actWords, progressWords, stateWords } from "./words.js";

const PAGE_COUNT = 50;

export class AuditView {
    constructor(page) {
        this.page = page;
        this.isPolled = true;
        this.actions = [];
        this.older = [];
        this.list = h("div", {});
        this.element = h("div", {}, h("h1", {}, "Audit"),
            h("p", { class: "lead" }, "Everything that was done from this page, by whom, and to how many."), this.list);
        listen(this.element, { older: () => this.#more() });
    }

    route() {}

    async load(isCurrent) {
        const answer = await get(`actions?limit=${PAGE_COUNT}`);
        if (!isCurrent()) return;
        this.actions = answer.actions;
        if (this.older.length === 0) this.next = answer.next;
        this.#draw();
    }

    async #more() {
        try {
            const answer = await get(`actions?before=${this.next}&limit=${PAGE_COUNT}`);
            this.older.push(...answer.actions);
            this.next = answer.next;
            this.#draw();
        } catch (error) {
            tell("That did not work", error.message);
        }
    }

    #draw() {
        const newest = new Set(this.actions.map(({ number }) => number));
        const all = [...this.actions, ...this.older.filter(({ number }) => !newest.has(number))];
        const columns = [
            { label: "No.", isNumber: true }, { label: "When", isTime: true }, { label: "Who" }, { label: "What" },
            { label: "On" }, { label: "State" }, { label: "How many" }, { label: "Process" },
        ];
        renew(this.list, all.length === 0 ? h("p", { class: "card empty" }, "Nothing was done yet.")
            : table("Audit log", columns, all.map((action) => ({ key: action.number, cells: [
                count(action.number), dateTime(action.atMilliseconds),
                [h("b", {}, action.user),
                    h("small", { class: "muted" }, ` ${action.role ?? ""} ${action.address ?? ""}`)],
                actWords(action.name),
                [action.target ?? "–", action.detail && h("small", { class: "detail" }, action.detail)],
                chip(...stateWords(action.state)), progressWords(action), action.process ?? "–",
            ] }))),
            this.next !== undefined && h("p", { class: "more" }, button("older", "Older entries")));
    }
}
