// The words that the page uses for the values of the server. Pure, tested by node.

import { count, counted } from "./format.js";

/// The ends of a push and the waits of an event, in the order in which they are shown.
export const OUTCOMES = [
    { key: "accepted", label: "Accepted", color: 1 },
    { key: "coalesced", label: "Coalesced", color: 2 },
    { key: "retried", label: "Retried", color: 3 },
    { key: "tokenDead", label: "Token dead", color: 4 },
    { key: "expired", label: "Expired", color: 5 },
    { key: "deadLettered", label: "Dead-lettered", color: 6 },
];

/// The counts of a campaign's pushes, in the order of the page; some are a part of another.
export const CAMPAIGN_COUNTS = [
    { key: "matched", label: "Matched" },
    { key: "accepted", label: "Accepted", color: 1, of: "matched" },
    { key: "opened", label: "Opened", color: 7, of: "accepted" },
    { key: "tokenDead", label: "Token dead", color: 4 },
    { key: "expired", label: "Expired", color: 5 },
    { key: "coalesced", label: "Coalesced", color: 2 },
    { key: "deadLettered", label: "Dead-lettered", color: 6 },
];

const PLATFORMS = {
    APNS: "APNs", APNS_SANDBOX: "APNs, sandbox", GCM: "FCM", ADM: "ADM", WEB: "The registry's API",
    WEB_PUSH: "Web Push",
};

/// The name of a platform; one that a newer server has is shown as it is.
export function platformWords(platform) {
    return PLATFORMS[platform] ?? String(platform);
}

const STATES = {
    ok: ["good", "OK"], ready: ["good", "Ready"], failing: ["bad", "Failing"], stale: ["warn", "No report"],
    unknown: ["warn", "Unknown"], paused: ["warn", "Paused"],
    planning: ["busy", "Planning"], planned: ["busy", "Sending"], cancelled: ["warn", "Cancelled"],
    running: ["busy", "Running"], done: ["good", "Done"], failed: ["bad", "Failed"],
    interrupted: ["bad", "Interrupted"],
};

/// How a state looks, and its word; a state that a newer server has is shown as it is.
export function stateWords(state) {
    return STATES[state] ?? ["", String(state)];
}

const ACTS = {
    "dead-letters.replay": "Replay dead letters", "dead-letters.purge": "Purge dead letters",
    "dead-letters.collect": "Collect dead letters", "fan-out.cancel": "Cancel a fan-out",
    "test-push.send": "Send a test push", pause: "Pause", resume: "Resume", "login.refused": "Login refused",
};

/// An action of the audit log, in words.
export function actWords(name) {
    return ACTS[name] ?? name;
}

/// How far an action is, in words: "300 of 1,200, 2 refused".
export function progressWords({ selected, done = 0, refused = 0 }) {
    const of = selected === undefined ? "" : ` of ${count(selected)}`;
    return `${count(done)}${of}${refused > 0 ? `, ${count(refused)} refused` : ""}`;
}

/// The selection of a filter of dead letters, in words.
export function filterWords(filter, dateTime) {
    const parts = [
        filter.reason && `reason ${filter.reason}`, filter.app && `app ${filter.app}`,
        filter.type && `type ${filter.type}`, filter.source && `source ${filter.source}`,
        filter.eventId && `event ${filter.eventId}`, filter.id && `letter ${filter.id}…`,
        filter.sinceMilliseconds && `since ${dateTime(filter.sinceMilliseconds)}`,
        filter.untilMilliseconds && `before ${dateTime(filter.untilMilliseconds)}`,
    ].filter(Boolean);
    return parts.length === 0 ? "every dead letter of every app" : parts.join(", ");
}

/// How many of the apps with the same trouble are named.
const APPS_NAMED_MAXIMUM = 3;

/// Findings that need a person now, the worst first: {kind, text} of the answer of `api/now`.
export function findings(now) {
    const found = (now.problems ?? []).map((text) => ({ kind: "bad", text }));
    for (const pause of now.pauses ?? []) {
        const what = pause.app === undefined ? "All apps are paused" : `The app ${pause.app} is paused`;
        const why = pause.reason ? `: ${pause.reason}` : "";
        found.push({ kind: "warn", text: `${what}${why}${pause.user ? ` (by ${pause.user})` : ""}.` });
    }
    for (const [trouble, names] of failingApps(now.apps ?? [])) {
        const more = names.length - APPS_NAMED_MAXIMUM;
        const who = [...names.slice(0, APPS_NAMED_MAXIMUM), ...(more > 0 ? [`${count(more)} more`] : [])].join(", ");
        found.push({ kind: "bad", text: `${names.length === 1 ? "App" : "Apps"} ${who}: ${trouble}` });
    }
    const workers = now.workers ?? [];
    for (const { id, state } of workers) {
        if (state !== "stale") continue;
        found.push({ kind: "warn", text: `${id} has stopped reporting: it ended, or cannot reach the registry.` });
    }
    for (const [trouble, ids] of failedChecks(workers)) {
        const who = ids.length === 1 ? ids[0] : counted(ids.length, "process", "processes");
        found.push({ kind: "bad", text: `${trouble} (${who})` });
    }
    if (workers.every((worker) => worker.state === "stale" || worker.kind !== "worker")) {
        found.push({ kind: "bad", text: "No worker reports: events wait in RabbitMQ." });
    }
    const waiting = now.deadLetters?.waiting ?? 0;
    if (waiting > 0) found.push({ kind: "warn", text: `${counted(waiting, "dead letter")} not collected yet.` });
    return [...found.filter(({ kind }) => kind === "bad"), ...found.filter(({ kind }) => kind !== "bad")];
}

/// The apps with each trouble: a push service that is away is one finding, and not one for each app.
function failingApps(apps) {
    const failing = new Map();
    for (const { name, state, reasons = [] } of apps) {
        if (state !== "failing") continue;
        const trouble = [...new Set(reasons.map((each) => each.reason))].join("; ");
        failing.set(trouble, [...(failing.get(trouble) ?? []), name]);
    }
    return failing;
}

/// The processes that each failed check makes unready or degraded: many have the same cause. Pauses and the apps whose
/// services are in trouble are told by themselves.
function failedChecks(workers) {
    const failed = new Map();
    for (const { id, state, readiness = [] } of workers) {
        if (state === "stale") continue;
        for (const { name, ok, onlyDegrades, reason } of readiness) {
            if (ok || name === "paused" || name === "services") continue;
            const trouble = `${onlyDegrades ? "Degraded" : "Not ready"}, ${name}: ${reason ?? "no reason is given"}`;
            failed.set(trouble, [...(failed.get(trouble) ?? []), id]);
        }
    }
    return failed;
}
