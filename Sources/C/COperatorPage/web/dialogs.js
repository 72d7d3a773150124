// Questions before something is done, and the progress of what was begun.

import { get, RequestError } from "./api.js";
import { chip, h, listen, button, renew } from "./dom.js";
import { actWords, progressWords, stateWords } from "./words.js";

const PROGRESS_MILLISECONDS = 1_000;

/// Asks; the answer is null if it is no, else the text of the input ("" without one).
///
/// - isDangerous: what is done cannot be undone.
/// - assent: a sentence to tick before the button works.
/// - input: {label, maximum}: a text that is needed.
export function ask({ title, content, confirm, isDangerous = false, assent, input }) {
    const box = assent && h("input", { type: "checkbox", required: true });
    const text = input && h("input", { type: "text", required: true, maxlength: input.maximum, autocomplete: "off" });
    const no = h("button", { type: "button" }, "Cancel");
    const dialog = h("dialog", { "aria-labelledby": "question" }, h("form", {},
        h("h2", { id: "question" }, title), h("div", { class: "content" }, content),
        text && h("label", { class: "field" }, input.label, text),
        box && h("label", { class: "assent" }, box, ` ${assent}`),
        h("div", { class: "buttons" }, no,
            h("button", { type: "submit", class: isDangerous ? "danger" : "primary" }, confirm))));
    return new Promise((resolve) => {
        let answer = null;
        no.addEventListener("click", () => dialog.close());
        dialog.addEventListener("submit", (event) => {
            event.preventDefault();
            answer = text ? text.value.trim() : "";
            dialog.close();
        });
        dialog.addEventListener("close", () => {
            dialog.remove();
            resolve(answer);
        });
        document.body.append(dialog);
        dialog.showModal();
        (text ?? no).focus();
    });
}

/// Tells something that went wrong in a dialog, where the person is looking.
export function tell(title, message) {
    const close = h("button", { type: "button", class: "primary" }, "Close");
    const dialog = h("dialog", { "aria-labelledby": "notice" },
        h("h2", { id: "notice" }, title), h("p", {}, message), h("div", { class: "buttons" }, close));
    close.addEventListener("click", () => dialog.close());
    dialog.addEventListener("close", () => dialog.remove());
    document.body.append(dialog);
    dialog.showModal();
}

/// The actions that this page has begun, with their progress; it stays while the person goes on.
export class Tray {
    constructor(element, announce) {
        this.element = element;
        this.announce = announce;
        this.entries = [];
        listen(element, { dismiss: ({ number }) => this.#dismiss(number) });
    }

    /// Follows an action to its end.
    ///
    /// - words: what is done, for example "Purge 12 dead letters".
    /// - ended: called with the action when it has ended.
    follow(action, words, ended) {
        const entry = { action, words, ended, trouble: null };
        this.entries = [...this.entries, entry];
        this.announce(`${words}: begun.`);
        this.#draw();
        this.#look(entry);
    }

    #look(entry) {
        if (entry.action.state !== "running") {
            this.announce(`${entry.words}: ${stateWords(entry.action.state)[1]}, ${progressWords(entry.action)}.`);
            entry.ended?.(entry.action);
            return;
        }
        setTimeout(async () => {
            try {
                entry.action = (await get(`actions/${entry.action.number}`)).action;
                entry.trouble = null;
            } catch (error) {
                if (!(error instanceof RequestError)) throw error;
                entry.trouble = error.message;
            }
            this.#draw();
            if (this.entries.includes(entry)) this.#look(entry);
        }, PROGRESS_MILLISECONDS);
    }

    #dismiss(number) {
        this.entries = this.entries.filter((entry) => String(entry.action.number) !== number);
        this.#draw();
        document.getElementById("main").focus();
    }

    #draw() {
        renew(this.element, this.entries.map(({ action, words, trouble }) => {
            const [kind, word] = stateWords(action.state);
            return h("article", { class: "entry", "data-key": action.number },
                h("div", { class: "line" }, h("strong", {}, words), chip(kind, word),
                    button("dismiss", "Dismiss", { number: action.number }, {
                        class: "quiet", "aria-label": `Dismiss ${actWords(action.name)} ${action.number}` })),
                action.state === "running" && h("progress", {
                    "aria-label": words, max: action.selected || 1,
                    value: action.selected === undefined ? null : action.done ?? 0,
                }),
                h("p", {}, trouble ?? progressWords(action), action.detail && ` · ${action.detail}`));
        }));
    }
}
