// Registrations, subscriptions and history of a device, an identity, a user, a push or an event.

import { get } from "./api.js";
import { chip, facts, h, renew } from "./dom.js";
import { count, counted, dateTime } from "./format.js";
import { letterTable } from "./letters.js";
import { formatQuery, formatRoute } from "./route.js";
import { fanOutTable } from "./view-fan-outs.js";

const KINDS = [
    ["device", "Device", "phone-1"], ["identity", "Identity", "us-east-1:b13e1dc0-…"], ["user", "User", "mei"],
    ["event", "Event id", "5f1c2c1e"], ["apns-id", "apns-id", "a9d1…-…"],
];

export class FindView {
    constructor(page) {
        this.page = page;
        this.isPolled = false;
        this.query = {};
        this.form = this.#makeForm();
        this.results = h("div", { class: "results" });
        this.element = h("div", { class: "find" }, h("h1", {}, "Find"),
            h("p", { class: "lead" }, "What is registered and subscribed, and what became of it lately."),
            this.form, this.results);
    }

    #makeForm() {
        const kind = h("select", { name: "kind" }, KINDS.map(([value, label]) => h("option", { value }, label)));
        this.value = h("input", { name: "value", type: "search", required: true, autocomplete: "off",
            spellcheck: "false" });
        this.source = h("label", { class: "field" }, "Source of the event",
            h("input", { name: "source", autocomplete: "off" }));
        const app = h("select", { name: "app" }, h("option", { value: "" }, "Any app"),
            this.page.session.apps.map((each) => h("option", { value: each }, each)));
        const form = h("form", { class: "card filter", role: "search", "aria-label": "Find" },
            h("label", { class: "field" }, "What", kind), h("label", { class: "field wide" }, "Its name", this.value),
            this.source, h("label", { class: "field" }, "App", app),
            h("div", { class: "buttons" }, h("button", { type: "submit", class: "primary" }, "Find")));
        kind.addEventListener("change", () => this.#suit(kind.value));
        form.addEventListener("submit", (event) => {
            event.preventDefault();
            this.page.go("find", "", this.#typed());
        });
        return form;
    }

    #typed() {
        const { kind, value, source, app } = Object.fromEntries(new FormData(this.form));
        return { kind, value, app, source: kind === "event" ? source : "" };
    }

    /// Offers only what applies to a kind.
    #suit(kind) {
        this.value.placeholder = KINDS.find(([value]) => value === kind)?.[2] ?? "";
        this.source.hidden = kind !== "event";
    }

    route({ query }) {
        this.query = query;
        for (const name of ["kind", "value", "source", "app"]) {
            this.form.elements[name].value = query[name] ?? (name === "kind" ? "device" : "");
        }
        this.#suit(this.form.elements.kind.value);
        renew(this.results);
        if (!query.value) this.value.focus();
    }

    async load(isCurrent) {
        if (!this.query.value) return false;
        const { kind = "device", value, source, app } = this.query;
        const found = await get(`find?${formatQuery({ kind, value, source, app })}`);
        if (isCurrent()) this.#draw(found);
    }

    #draw({ devices, devicesTruncated, deadLetters, fanOuts, notKept = [] }) {
        renew(this.results,
            devices && group("Devices", devices.length,
                devicesTruncated && "There are more: name the device or the app.",
                devices.map((device) => this.#device(device))),
            deadLetters && group("Dead letters", deadLetters.length, null,
                deadLetters.length > 0 && letterTable(deadLetters)),
            fanOuts && group("Fan-outs", fanOuts.length, null, fanOuts.length > 0 && fanOutTable(fanOuts, false)),
            notKept.length > 0 && h("section", { class: "card note" }, h("h2", {}, "What is not kept"),
                h("ul", {}, notKept.map((sentence) => h("li", {}, sentence)))));
    }

    #device(device) {
        const tokens = [{ kind: "alert", token: device.token,
            registeredAtMilliseconds: device.registeredAtMilliseconds }, ...(device.tokens ?? [])];
        return h("article", { class: "card device", "data-key": `${device.app} ${device.deviceId}` },
            h("div", { class: "heading" }, h("h3", {}, h("span", { class: "code" }, device.deviceId), " ",
                chip("", device.app)),
                h("div", { class: "buttons" },
                    h("a", { class: "button", href: formatRoute("send", "", { device: device.deviceId }) },
                        this.page.canPublish ? "Send or explain …" : "Explain …"))),
            facts([["Platform", device.platform], ["User", device.userId && link("user", device.userId)],
                ["Identity", device.identityId && link("identity", device.identityId)],
                ["Identity pool", device.identityPoolId],
                ["Registered", dateTime(device.registeredAtMilliseconds)],
                ["Ends", device.expiresAtMilliseconds && dateTime(device.expiresAtMilliseconds)],
                ["Badge", device.badge === undefined ? undefined : count(device.badge)],
                ["Tokens", tokens.filter(({ token }) => token).map(({ kind, token }) =>
                    h("span", { class: "pill" }, `${kind} `, h("span", { class: "code" }, token)))],
                ["Datasets", names(device.datasets, device.includesFutureDatasets && "and all future ones")],
                ["Topics", names(device.topics)]]),
            (device.subscriptions ?? []).length > 0
                && h("details", {}, h("summary", {}, counted(device.subscriptions.length, "record subscription")),
                h("ul", { class: "subscriptions" }, device.subscriptions.map((each) => h("li", {}, h("b", {}, each.id),
                    ` ${each.recordType ?? "any type"} `, each.firesOnce && chip("", "fires once"),
                    h("code", {}, each.predicate ?? "every record"))))));
    }
}

function group(title, number, remark, content) {
    const found = number === 0 ? "nothing found" : count(number);
    return h("section", { "data-key": title },
        h("h2", {}, title, h("small", { class: "muted" }, ` ${found}${remark ? ` — ${remark}` : ""}`)), content);
}

function link(kind, value) {
    return h("a", { href: formatRoute("find", "", { kind, value }) }, value);
}

function names(list, remark) {
    if ((list ?? []).length === 0 && !remark) return undefined;
    return [(list ?? []).map((name) => h("span", { class: "pill" }, name)),
        remark && h("small", { class: "muted" }, remark)];
}
