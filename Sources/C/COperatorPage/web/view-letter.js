// One dead letter, whole.

import { get, RequestError } from "./api.js";
import { button, facts, h, listen, renew } from "./dom.js";
import { bytes, count, dateTime, prettyJSON } from "./format.js";
import { actOnLetters, filterOf } from "./letters.js";
import { formatRoute } from "./route.js";

export class LetterView {
    constructor(page) {
        this.page = page;
        this.isPolled = false;
        this.content = h("div", {});
        this.element = h("div", { class: "letter" }, this.content);
        listen(this.element, {
            replay: () => this.#act("replay"), purge: () => this.#act("purge"),
            copy: (data, target) => this.#copy(target),
        });
    }

    route({ id, query }) {
        this.id = id;
        this.query = filterOf(query);
        this.answer = null;
        renew(this.content, this.#back(), h("h1", {}, "Dead letter ", h("span", { class: "code" }, id)));
    }

    async load(isCurrent) {
        try {
            const answer = await get(`dead-letters/${encodeURIComponent(this.id)}`);
            if (!isCurrent()) return;
            this.answer = answer;
            this.#draw();
        } catch (error) {
            if (!(error instanceof RequestError) || error.status !== 404 || !isCurrent()) throw error;
            renew(this.content, this.#back(), h("h1", {}, "Dead letter ", h("span", { class: "code" }, this.id)),
                h("p", { class: "card empty" }, "There is no such letter any more: it was replayed or purged."));
        }
    }

    #back() {
        return h("p", { class: "back" }, h("a", { href: formatRoute("dead-letters", "", this.query) },
            "← Dead letters"));
    }

    #draw() {
        const { letter, properties, headers, isMasked } = this.answer;
        renew(this.content, this.#back(),
            h("div", { class: "heading" }, h("h1", {}, "Dead letter ", h("span", { class: "code" }, letter.id)),
                this.#acts()),
            h("section", { class: "card", "aria-label": "Summary" },
                h("p", { class: "reason" }, h("b", {}, letter.reason), letter.detail && ` — ${letter.detail}`),
                facts([["App", letter.app], ["Event", letter.eventId], ["Source", letter.eventSource],
                    ["Type", letter.eventType],
                    ["Attempts", letter.attempts === undefined ? undefined : count(letter.attempts)],
                    ["First seen", letter.firstSeenMilliseconds && dateTime(letter.firstSeenMilliseconds)],
                    ["Dead letter since", dateTime(letter.deadLetteredMilliseconds)],
                    ["Size", bytes(letter.bodyBytes)]])),
            h("section", { class: "card", "aria-label": "Message" },
                h("div", { class: "heading" }, h("h2", {}, "Message", isMasked
                    && h("small", { class: "muted" }, " Values are masked: admin.page_shows_payloads shows them.")),
                    // A browser has a clipboard for pages on TLS and on this machine only.
                    isSecureContext && navigator.clipboard && button("copy", "Copy")),
                h("pre", { tabindex: "0", "aria-label": "Body" }, this.#body())),
            detailTable("Headers", headers), detailTable("Properties", properties));
    }

    #acts() {
        const { letter } = this.answer;
        return h("div", { class: "buttons" },
            h("a", { class: "button", href: formatRoute("send", "", { letter: letter.id }) }, "Explain …"),
            this.page.canPublish && button("replay", "Replay …", {}, { class: "primary" }),
            this.page.session.canAct && button("purge", "Purge …", {}, { class: "danger" }));
    }

    #body() {
        const { event, bodyText, bodyHexadecimal } = this.answer;
        if (event !== undefined) return prettyJSON(event);
        return bodyText ?? bodyHexadecimal ?? "";
    }

    async #copy(target) {
        await navigator.clipboard.writeText(this.#body());
        renew(target, "Copied");
        this.page.announce("The message is copied.");
    }

    #act(action) {
        return actOnLetters(this.page, action, { ids: [this.answer.letter.id] }, () => {
            if (this.page.view === this) this.page.go("dead-letters", "", this.query);
        });
    }
}

function detailTable(title, values) {
    const entries = Object.entries(values ?? {});
    if (entries.length === 0) return null;
    return h("section", { class: "card", "aria-label": title }, h("h2", {}, title), facts(entries.map(([name, value]) =>
        [h("span", { class: "code" }, name), typeof value === "object" ? prettyJSON(value) : String(value)])));
}
