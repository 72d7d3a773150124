// The common part of the views of dead letters: the filter, the table, and replaying or purging after a preview.

import { post } from "./api.js";
import { ask, tell } from "./dialogs.js";
import { h, table } from "./dom.js";
import { bytes, count, counted, dateTime } from "./format.js";
import { formatRoute } from "./route.js";
import { filterWords } from "./words.js";

const SHORT_ID_CHARACTERS = 12;
const FILTER_NAMES = ["reason", "app", "type", "source", "eventId", "id", "sinceMilliseconds", "untilMilliseconds"];

/// The filter of an address: its known members, times as numbers.
export function filterOf(query) {
    const filter = {};
    for (const name of FILTER_NAMES) {
        const value = query[name];
        if (value === undefined || value === "") continue;
        if (!name.endsWith("Milliseconds")) filter[name] = value;
        else if (Number.isSafeInteger(Number(value))) filter[name] = Number(value);
    }
    return filter;
}

/// The beginning of an identifier, for people.
export function shortId(id) {
    return id.slice(0, SHORT_ID_CHARACTERS);
}

/// A table of letters.
///
/// - selected: the set of identifiers that are ticked; without it there is nothing to tick.
/// - query: the filter that the address of a letter keeps.
export function letterTable(letters, { selected, query = {} } = {}) {
    const columns = [
        ...(selected ? [{ label: h("span", { class: "hidden" }, "Select") }] : []),
        { label: "Letter" }, { label: "Reason" }, { label: "App" }, { label: "Event" },
        { label: "Attempts", isNumber: true }, { label: "Since", isTime: true }, { label: "Size", isNumber: true },
    ];
    return table("Dead letters", columns, letters.map((letter) => ({ key: letter.id, cells: [
        ...(selected ? [h("input", {
            type: "checkbox", "data-id": letter.id, checked: selected.has(letter.id),
            "aria-label": `Select ${shortId(letter.id)}` })] : []),
        h("a", { href: formatRoute("dead-letters", letter.id, query), class: "code" }, shortId(letter.id)),
        [h("b", {}, letter.reason), letter.detail && h("small", { class: "detail" }, letter.detail)],
        letter.app ?? "–",
        [h("span", { class: "name" }, letter.eventId ?? "–"),
            h("small", { class: "muted" }, ` ${letter.eventType ?? ""}`)],
        count(letter.attempts), dateTime(letter.deadLetteredMilliseconds), bytes(letter.bodyBytes),
    ] })));
}

/// How many letters there are of each reason, and of which apps.
///
/// - linkOf: the address that shows those of {reason, app}; without it there are no links.
export function countTable(counts, linkOf) {
    const reasons = new Map();
    for (const each of counts) reasons.set(each.reason, [...(reasons.get(each.reason) ?? []), each]);
    const linked = (filter, content) => (linkOf ? h("a", { href: linkOf(filter) }, content) : content);
    const columns = [
        { label: "Reason" }, { label: "Letters", isNumber: true }, { label: "Oldest since", isTime: true },
        { label: "By app" },
    ];
    return table("Dead letters by reason", columns, [...reasons].map(([reason, apps]) => ({ key: reason, cells: [
        linked({ reason }, reason), count(apps.reduce((sum, each) => sum + each.count, 0)),
        dateTime(Math.min(...apps.map((each) => each.oldestMilliseconds))),
        apps.map(({ app, count: number }) => h("span", { class: "pill" },
            app === undefined ? "no app" : linked({ reason, app }, app), ` ${count(number)}`)),
    ] })));
}

/// Previews, asks, and begins; the tray shows the progress.
///
/// - selection: {filter} or {ids}.
/// - ended: called when the action has ended.
export async function actOnLetters(page, action, selection, ended) {
    try {
        const preview = await post("dead-letters/preview", { action, ...selection });
        if (preview.count === 0) {
            tell("No letter is left", "No dead letter matches any more: another person may have dealt with them.");
            ended();
            return;
        }
        if (await question(action, selection, preview) === null) return;
        const { action: begun } = await post("dead-letters/apply",
            { token: preview.token, action, count: preview.count });
        page.tray.follow(begun, `${verb(action)} ${counted(preview.count, "dead letter")}`, ended);
    } catch (error) {
        tell("That did not work", error.message);
    }
}

function question(action, selection, preview) {
    const letters = counted(preview.count, "dead letter");
    const isPurge = action === "purge";
    const isEverything = selection.filter !== undefined && Object.keys(selection.filter).length === 0;
    const what = selection.filter ? filterWords(selection.filter, dateTime) : "the selected letters";
    return ask({
        title: `${verb(action)} ${letters}?`, confirm: `${verb(action)} ${letters}`, isDangerous: isPurge,
        assent: isPurge && isEverything ? "Yes, all of them, of every app." : undefined,
        content: [
            h("p", {}, "Exactly these: ", h("b", {}, what), ". Letters that come later are not touched."),
            countTable(preview.counts ?? []),
            h("p", {}, isPurge
                ? "Purged letters are gone for good, and their pushes are never sent."
                : "Replayed events go back to the work queue. Devices that had their push may get it again."),
        ],
    });
}

function verb(action) {
    return action === "purge" ? "Purge" : "Replay";
}
