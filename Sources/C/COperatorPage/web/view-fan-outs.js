// Large fan-outs: how far they are, and how to stop one.

import { get, post } from "./api.js";
import { ask, tell } from "./dialogs.js";
import { button, chip, facts, h, listen, renew, table } from "./dom.js";
import { count, counted, dateTime, duration, percent } from "./format.js";
import { stateWords } from "./words.js";

const PAGE_COUNT = 50;

export class FanOutsView {
    constructor(page) {
        this.page = page;
        this.isPolled = true;
        this.fanOuts = [];
        // Pages that were asked for besides the newest one.
        this.older = [];
        this.list = h("div", {});
        this.element = h("div", {}, h("h1", {}, "Fan-outs"),
            h("p", { class: "lead" }, "Events to very many devices are sent in chunks, which all workers share."),
            this.list);
        listen(this.element, {
            cancel: ({ number }) => cancelFanOut(page, number, [...this.fanOuts, ...this.older]),
            older: () => this.#more(),
        });
    }

    route() {}

    async load(isCurrent) {
        const answer = await get(`fan-outs?limit=${PAGE_COUNT}`);
        if (!isCurrent()) return;
        this.fanOuts = answer.fanOuts;
        if (this.older.length === 0) this.next = answer.next;
        this.#draw();
    }

    async #more() {
        try {
            const answer = await get(`fan-outs?before=${this.next}&limit=${PAGE_COUNT}`);
            this.older.push(...answer.fanOuts);
            this.next = answer.next;
            this.#draw();
        } catch (error) {
            tell("That did not work", error.message);
        }
    }

    #draw() {
        const newest = new Set(this.fanOuts.map(({ number }) => number));
        const all = [...this.fanOuts, ...this.older.filter(({ number }) => !newest.has(number))];
        renew(this.list, all.length === 0
            ? h("p", { class: "card empty" }, "No large fan-out is known. One that is done is remembered for a day.")
            : fanOutTable(all, this.page.session.canAct),
            this.next !== undefined && h("p", { class: "more" }, button("older", "Older fan-outs")));
    }
}

/// A table of fan-outs; whoever may act can cancel those that are not over.
export function fanOutTable(fanOuts, canAct) {
    const columns = [
        { label: "Fan-out" }, { label: "State" }, { label: "Progress" }, { label: "Left" },
        { label: "Devices", isNumber: true },
        { label: "Chunks served", isNumber: true }, { label: "Event" }, { label: "Begun", isTime: true },
        ...(canAct ? [{ label: h("span", { class: "hidden" }, "Action") }] : []),
    ];
    return table("Fan-outs", columns, fanOuts.map((fanOut) => ({ key: fanOut.number, cells: [
        h("b", {}, count(fanOut.number)), chip(...stateWords(fanOut.state)), progressOf(fanOut),
        fanOut.etaSeconds === undefined ? "–" : duration(fanOut.etaSeconds),
        `${count(fanOut.devicesPlanned)}${fanOut.isWhole ? "" : "+"}`,
        `${count(fanOut.chunksServed)} of ${count(fanOut.chunksPlanned)}${fanOut.isWhole ? "" : "+"}`,
        [h("span", { class: "name" }, fanOut.eventId),
            h("small", { class: "muted" }, ` ${fanOut.app ?? ""} ${fanOut.eventType}`)],
        dateTime(fanOut.begunAtMilliseconds),
        ...(canAct ? [isOver(fanOut) ? "" : button("cancel", "Cancel …", { number: fanOut.number }, {
            class: "quiet danger", "aria-label": `Cancel the fan-out ${fanOut.number} …` })] : []),
    ] })));
}

/// Whether nothing of a fan-out is sent any more.
export function isOver({ state }) {
    return state === "done" || state === "cancelled";
}

function progressOf(fanOut) {
    // Cancelled chunks are no progress.
    const share = fanOut.state === "cancelled" ? fanOut.chunksServed / (fanOut.chunksPlanned || 1) : fanOut.progress;
    return h("span", { class: "progress" },
        h("progress", { max: 1, value: share ?? null, "aria-label": `Fan-out ${fanOut.number}`,
            class: isOver(fanOut) && "over" }),
        share === undefined ? "" : percent(share));
}

/// Asks, then stops a fan-out.
export async function cancelFanOut(page, number, known) {
    const fanOut = known?.find((each) => String(each.number) === number);
    if (!fanOut) return;
    const answer = await ask({
        title: `Cancel the fan-out ${number}?`, confirm: "Cancel the fan-out", isDangerous: true,
        content: [
            facts([["Event", fanOut.eventId], ["Type", fanOut.eventType], ["App", fanOut.app],
                ["Devices", count(fanOut.devicesPlanned)],
                ["Served", `${count(fanOut.chunksServed)} of ${counted(fanOut.chunksPlanned, "chunk")}`]]),
            h("p", {}, "Chunks that have not begun are not sent. This cannot be taken back."),
        ],
    });
    if (answer === null) return;
    try {
        const { fanOut: after } = await post(`fan-outs/${number}/cancel`);
        page.announce(`Fan-out ${number}: ${stateWords(after.state)[1]}.`);
    } catch (error) {
        tell("That did not work", error.message);
    }
    page.reload();
}
