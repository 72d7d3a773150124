// Numbers, times and words as people read them. Pure functions, tested by node.

const LOCALE = "en-US";

/// A count, of any size.
export function count(number) {
    if (number === undefined || number === null) return "–";
    return number.toLocaleString(LOCALE);
}

/// A rate: a decimal below ten, whole numbers above.
export function rate(number) {
    if (number === undefined || number === null) return "–";
    if (number === 0) return "0";
    if (Math.abs(number) < 0.05) return "<0.1";
    const digits = Math.abs(number) < 9.95 ? 1 : 0;
    return number.toLocaleString(LOCALE, { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

/// A count and its noun.
export function counted(number, singular, plural = `${singular}s`) {
    return `${count(number)} ${number === 1 ? singular : plural}`;
}

/// A duration in the two units that matter.
export function duration(seconds) {
    if (seconds === undefined || seconds === null || !Number.isFinite(seconds)) return "–";
    if (seconds < 0) return duration(0);
    if (seconds < 0.0005) return "0 ms";
    if (seconds < 0.9995) return `${significant(seconds * 1000)} ms`;
    if (seconds < 59.95) return `${significant(seconds)} s`;
    const whole = Math.round(seconds);
    if (whole < 3600) return pair(whole, 60, "min", 1, "s");
    if (whole < 86400) return pair(whole, 3600, "h", 60, "min");
    return pair(whole, 86400, "d", 3600, "h");
}

/// A duration in whole units, for ages that tick.
export function age(seconds) {
    if (seconds === undefined || seconds === null || !Number.isFinite(seconds)) return "–";
    return seconds < 60 ? `${Math.max(0, Math.floor(seconds))} s` : duration(seconds);
}

function significant(number) {
    if (number >= 99.5) return number.toFixed(0);
    return String(Number(number.toFixed(number >= 9.95 ? 0 : 1)));
}

function pair(whole, largeSeconds, largeName, smallSeconds, smallName) {
    const large = Math.floor(whole / largeSeconds);
    const small = Math.floor((whole - large * largeSeconds) / smallSeconds);
    return small === 0 ? `${large} ${largeName}` : `${large} ${largeName} ${small} ${smallName}`;
}

/// A size.
export function bytes(number) {
    if (number === undefined || number === null) return "–";
    if (number < 1024) return `${number} B`;
    const units = ["KiB", "MiB", "GiB"];
    let value = number / 1024;
    let index = 0;
    while (value >= 1023.95 && index < units.length - 1) {
        value /= 1024;
        index += 1;
    }
    return `${value.toFixed(1)} ${units[index]}`;
}

/// A share as a percentage that never says 100 % of what is not whole.
export function percent(share) {
    if (share === undefined || share === null) return "–";
    return share >= 1 ? "100 %" : `${Math.max(0, Math.floor(share * 100))} %`;
}

/// A part of a whole as a percentage with a decimal, rounded down: it says 100 % of what is whole alone.
export function share(part, whole) {
    if (!Number(whole)) return "–";
    const tenths = Math.floor((Number(part) * 1000) / Number(whole));
    return tenths === 1000 ? "100 %" : `${(tenths / 10).toFixed(1)} %`;
}

/// A count with few digits, for the edge of a chart: 1.25M.
export function shortCount(number) {
    return number.toLocaleString(LOCALE, { notation: "compact", maximumFractionDigits: 2 });
}

/// A moment as date and time of the reader's zone.
export function dateTime(milliseconds) {
    if (milliseconds === undefined || milliseconds === null) return "–";
    const date = new Date(Number(milliseconds));
    return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${timeOfDay(milliseconds)}`;
}

/// The time of a moment in the reader's zone.
export function timeOfDay(milliseconds) {
    const date = new Date(Number(milliseconds));
    return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

/// An hour as date and time of the reader's zone.
export function dateHour(milliseconds) {
    return dateTime(milliseconds).slice(0, 16);
}

/// The date of a moment in UTC: days are counted so, for all who look.
export function dateUTC(milliseconds) {
    return new Date(Number(milliseconds)).toISOString().slice(0, 10);
}

function two(number) {
    return String(number).padStart(2, "0");
}

/// Milliseconds since 1970 of the value of an input `datetime-local`; undefined if there is none.
export function millisecondsOf(localText) {
    const milliseconds = new Date(localText).getTime();
    return localText && Number.isFinite(milliseconds) ? milliseconds : undefined;
}

/// The value of an input `datetime-local`.
export function localText(milliseconds) {
    return milliseconds ? dateTime(milliseconds).replace(" ", "T") : "";
}

const LARGE = /^-?\d{16,}$/;
const STRING_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/// Parses JSON; integers of 16 digits and more become `BigInt`, because a number would round them.
export function parseJSON(text) {
    // A text that begins with this sign comes from here alone, or looks like a large number to a reader anyway.
    const marked = text.replace(STRING_OR_NUMBER, (match) => (LARGE.test(match) ? `"\\u0000${match}"` : match));
    return JSON.parse(marked, (_, value) => (isMarked(value) ? BigInt(value.slice(1)) : value));
}

/// Writes JSON in lines, as `parseJSON` read it.
export function prettyJSON(value) {
    const marked = JSON.stringify(value, (_, each) => (typeof each === "bigint" ? `\0${each}` : each), 2);
    return marked.replace(/"\\u0000(-?\d{16,})"/g, "$1");
}

function isMarked(value) {
    return typeof value === "string" && value.startsWith("\0") && LARGE.test(value.slice(1));
}
