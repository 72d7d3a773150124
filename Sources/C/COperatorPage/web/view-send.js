// A test push to a device, and why a device did or did not get an event.

import { get, post, postText } from "./api.js";
import { tell } from "./dialogs.js";
import { chip, facts, h, renew } from "./dom.js";
import { formatRoute } from "./route.js";

const TEXT_CHARACTERS_MAXIMUM = 200;
// For how long a test push is followed, and how often it is asked for.
const FOLLOW_TURNS = 30;
const FOLLOW_MILLISECONDS = 1_000;
const VERDICTS = {
    "would-get": ["good", "Would get it"], "would-not-get": ["bad", "Would not get it"],
    "cannot-tell": ["warn", "Cannot be told"],
};
const EXAMPLE = `{"specversion": "1.0", "id": "5f1c2c1e", "source": "/chat", "type": "com.example.push.requested",
 "data": {"app": "chat", "userIds": ["mei"], "notification": {"title": "Mei Chen"}}}`;

export class SendView {
    constructor(page) {
        this.page = page;
        this.isPolled = false;
        this.sent = h("div", { role: "status" });
        this.answer = h("div", { role: "status" });
        this.send = page.canPublish ? this.#makeSend() : null;
        this.explain = this.#makeExplain();
        this.element = h("div", { class: "send" }, h("h1", {}, "Send and explain"),
            h("div", { class: "columns" }, this.explain, this.send));
    }

    route({ query }) {
        for (const form of [this.send, this.explain]) {
            if (form && query.device !== undefined) form.elements.deviceId.value = query.device;
        }
        if (query.letter !== undefined) this.explain.elements.deadLetterId.value = query.letter;
    }

    async load() {
        return false;
    }

    #makeSend() {
        const form = h("form", { class: "card", "aria-label": "Test push" }, h("h2", {}, "Send a test push"),
            h("p", { class: "muted" }, "An alert to one device, through RabbitMQ and a worker as any other event."),
            field("Device", "deviceId", { required: true }),
            field("Title", "title", { maxlength: TEXT_CHARACTERS_MAXIMUM, value: "Test" }),
            field("Text", "body", { maxlength: TEXT_CHARACTERS_MAXIMUM, value: "A test push from Apus." }),
            h("div", { class: "buttons" }, h("button", { type: "submit", class: "primary" }, "Send to the device")),
            this.sent);
        onSubmit(form, async ({ deviceId, title, body }) => {
            const { eventId, eventSource, apnsId } = await post("test-push", { deviceId, title, body });
            const end = h("p", { class: "finding" }, "RabbitMQ has the event; a worker pushes it now.");
            renew(this.sent, end, facts([["Event", h("a", { href: formatRoute("find", "", { kind: "event", value: eventId }) },
                    eventId)], ["Source", eventSource],
                    ["apns-id", apnsId && h("a", { class: "code",
                        href: formatRoute("find", "", { kind: "apns-id", value: apnsId }) }, apnsId)]]));
            follow(eventId, end);
        });
        return form;
    }

    #makeExplain() {
        const form = h("form", { class: "card", "aria-label": "Explain" }, h("h2", {}, "Explain"),
            h("p", { class: "muted" }, "Why a device gets an event, or not, by what is registered and subscribed now."),
            field("Device", "deviceId", { required: true }),
            field("Dead letter", "deadLetterId", { placeholder: "its id, or an event below" }),
            h("label", { class: "field" }, "Event",
                h("textarea", { name: "event", rows: 7, spellcheck: "false", placeholder: EXAMPLE })),
            h("div", { class: "buttons" }, h("button", { type: "submit", class: "primary" }, "Explain")), this.answer);
        onSubmit(form, async ({ deviceId, deadLetterId, event }) => {
            renew(this.answer);
            const request = explainRequest(deviceId, deadLetterId.trim(), event.trim());
            this.#show(await postText("explain", request));
        });
        return form;
    }

    #show({ verdict, summary, steps = [], apnsId }) {
        const [kind, word] = VERDICTS[verdict] ?? ["", verdict];
        renew(this.answer, h("p", { class: "verdict" }, chip(kind, word), ` ${summary}`),
            h("ol", { class: "steps" }, steps.map(({ check, ok, text }) =>
                h("li", { class: ok === undefined ? "note" : ok ? "good" : "bad" },
                    h("b", {}, check, h("span", { class: "hidden" },
                        ok === undefined ? " (note)" : ok ? " (yes)" : " (no)")), ` ${text}`))),
            apnsId && facts([["apns-id", h("span", { class: "code" }, apnsId)]]));
    }
}

/// Shows the end of a test push in place of its beginning, if workers keep that and the page still shows it.
async function follow(eventId, element) {
    for (let turn = 0; turn < FOLLOW_TURNS; turn++) {
        await new Promise((resolve) => setTimeout(resolve, FOLLOW_MILLISECONDS));
        if (!element.isConnected) return;
        let found;
        try {
            found = await get(`test-push?id=${encodeURIComponent(eventId)}`);
        } catch {
            continue;
        }
        if (!found.isKept) return;
        const [kind, text] = endWords(found);
        element.className = `finding ${kind}`;
        renew(element, text);
        if (found.isEnded) return;
    }
}

/// How the newest push of an event ended, as a kind of finding and a sentence.
export function endWords({ pushes = [], wholeEvent = [] }) {
    const [end] = [...pushes, ...wholeEvent];
    if (end === undefined) return ["", "RabbitMQ has the event; no push of it has ended yet."];
    const reason = end.reason === undefined ? "" : `: ${end.reason}`;
    if (end.outcome === "accepted") return ["good", "The push service has accepted it."];
    if (end.outcome === "retrying") return ["warn", `It waits for another attempt${reason}.`];
    return ["bad", `It ended as ${end.outcome}${reason}.`];
}

/// The body of a question; the event's text goes in as it is, because JavaScript would round its large numbers.
export function explainRequest(deviceId, deadLetterId, eventText) {
    const device = JSON.stringify(deviceId);
    if (deadLetterId !== "" && eventText !== "") throw new Error("Give a dead letter or an event, not both.");
    if (deadLetterId !== "") return `{"deviceId":${device},"deadLetterId":${JSON.stringify(deadLetterId)}}`;
    if (eventText === "") throw new Error("Give a dead letter's id, or an event as JSON.");
    try {
        JSON.parse(eventText);
    } catch (error) {
        throw new Error(`The event is not JSON: ${error.message}`);
    }
    return `{"deviceId":${device},"event":${eventText}}`;
}

function field(label, name, attributes = {}) {
    return h("label", { class: "field" }, label, h("input",
        { name, type: "text", autocomplete: "off", spellcheck: "false", ...attributes }));
}

/// Calls a function with the values of a form, once at a time, and tells what goes wrong.
function onSubmit(form, act) {
    form.addEventListener("submit", async (event) => {
        event.preventDefault();
        const submit = form.querySelector("[type=submit]");
        submit.disabled = true;
        try {
            await act(Object.fromEntries(new FormData(form)));
        } catch (error) {
            tell("That did not work", error.message);
        } finally {
            submit.disabled = false;
        }
    });
}
