// The common part of the views of campaigns. Pure, tested by node.

import { count, share } from "./format.js";
import { CAMPAIGN_COUNTS } from "./words.js";

const HOUR_MILLISECONDS = 3_600_000;
const STEPS = { hour: HOUR_MILLISECONDS, day: 24 * HOUR_MILLISECONDS };
// More than the server gives, so that a mistake of it makes no endless line.
const POINTS_MAXIMUM = 1_000;

/// The sums of two; numbers that are too large to be exact are good enough for a chart.
export function added(left, right) {
    return Object.fromEntries(CAMPAIGN_COUNTS.map(({ key }) =>
        [key, Number(left?.[key] ?? 0) + Number(right?.[key] ?? 0)]));
}

/// A campaign's answer, of one platform or of all.
///
/// Returns the sums, the steps that something was counted in, and all steps for a chart. A chart begins with nothing
/// if the campaign does, so that a campaign of one hour is a line as well.
export function timelineOf({ campaign, by, fromMilliseconds, throughMilliseconds, slices }, platform = "") {
    const step = STEPS[by] ?? HOUR_MILLISECONDS;
    const parts = new Map();
    for (const slice of slices) {
        if (platform && slice.platform !== platform) continue;
        parts.set(slice.atMilliseconds, added(parts.get(slice.atMilliseconds), slice));
    }
    const points = [];
    let at = Math.floor(fromMilliseconds / step) * step;
    if (campaign.firstMilliseconds >= at) at -= step;
    for (; at <= throughMilliseconds && points.length < POINTS_MAXIMUM; at += step) {
        points.push({ atMilliseconds: at, ...added(parts.get(at)) });
    }
    return {
        step, points, sums: [...parts.values()].reduce(added, added()),
        parts: [...parts].map(([atMilliseconds, counts]) => ({ atMilliseconds, ...counts })),
    };
}

/// The columns of a table of counts.
export const COUNT_COLUMNS = CAMPAIGN_COUNTS.map(({ label }) => ({ label, isNumber: true }));

/// A count and what part it is of another: ["1,300", "10.9 %"]; no part where it says nothing.
export function countWords(counts, { key, of }) {
    return [count(counts[key]), of && counts[of] ? share(counts[key], counts[of]) : ""];
}
