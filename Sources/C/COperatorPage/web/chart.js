// A line chart over time, as SVG. Its legend shows the newest values, or those at the pointer or the arrow keys.

import { h, renew, s } from "./dom.js";
import { timeOfDay } from "./format.js";

const HEIGHT = 168;
const MARGIN = { top: 10, right: 10, bottom: 22, left: 52 };
const TICKS_MAXIMUM = 4;
// The pixels of a time, and of a time with the room around it.
const TIME_WIDTH = 36;
const LABEL_WIDTH = 92;

/// Round numbers from zero up to one that is at least `maximum`.
export function valueTicks(maximum, count = TICKS_MAXIMUM) {
    const least = (maximum > 0 ? maximum : 1) / count;
    const power = 10 ** Math.floor(Math.log10(least));
    const step = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((each) => each >= least * 0.9999) ?? least;
    const ticks = Math.max(1, Math.ceil(maximum / step - 1e-9));
    return Array.from({ length: ticks + 1 }, (_, index) => Number((index * step).toPrecision(12)));
}

/// Moments at whole steps between two, at most so many.
export function timeTicks(from, to, count) {
    const seconds = [5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 43_200, 86_400, 172_800, 604_800,
        1_209_600, 2_419_200];
    const step = 1000 * (seconds.find((each) => (to - from) / (each * 1000) <= count) ?? seconds.at(-1));
    const ticks = [];
    for (let tick = Math.ceil(from / step) * step; tick <= to; tick += step) ticks.push(tick);
    return ticks;
}

/// The path of a line; a point without a value, or after a long pause, begins a new piece.
export function linePath(points, key, x, y, pauseMilliseconds = Infinity) {
    let path = "";
    let last = null;
    for (const point of points) {
        const value = point[key];
        if (value === undefined || value === null) {
            last = null;
            continue;
        }
        const isNew = last === null || point.atMilliseconds - last > pauseMilliseconds;
        path += `${isNew ? "M" : "L"}${x(point.atMilliseconds).toFixed(1)} ${y(value).toFixed(1)}`;
        last = point.atMilliseconds;
    }
    return path;
}

/// The index of the point nearest to a moment; null without points.
export function nearest(points, moment) {
    let best = null;
    for (const [index, point] of points.entries()) {
        const distance = Math.abs(point.atMilliseconds - moment);
        if (best === null || distance < Math.abs(points[best].atMilliseconds - moment)) best = index;
    }
    return best;
}

function shortTime(moment) {
    return timeOfDay(moment).slice(0, moment % 60_000 ? 8 : 5);
}

export class LineChart {
    /// - lines: {key, label, color: the number of a colour in style.css}.
    /// - format: makes text of a value; formatTick: of one at the edge.
    /// - formatMoment: makes text of a moment; formatTime: of one at the edge, `timeWidth` pixels wide.
    /// - least: what the value axis holds in any case.
    constructor({ title, lines, format, isFilled = false, formatTick = format, formatMoment = timeOfDay,
        formatTime = shortTime, least = 0 }) {
        Object.assign(this, { title, lines, format, isFilled, formatTick, formatMoment, formatTime, least,
            timeWidth: TIME_WIDTH, points: [], intervalSeconds: 5, index: null, width: 0 });
        this.svg = s("svg", { height: HEIGHT, role: "img", tabindex: "0", class: "plot" });
        this.legend = h("ul", { class: "legend" });
        this.moment = h("span", { class: "moment" });
        this.spoken = h("span", { class: "hidden", role: "status" });
        this.element = h("figure", { class: "card chart" },
            h("figcaption", {}, h("span", {}, title), this.moment), this.svg, this.legend, this.spoken);
        this.svg.addEventListener("pointermove", (event) => this.#point(event));
        this.svg.addEventListener("pointerleave", () => this.#select(null));
        this.svg.addEventListener("blur", () => this.#select(null));
        this.svg.addEventListener("keydown", (event) => this.#key(event));
        this.observer = new ResizeObserver(([entry]) => {
            this.width = Math.floor(entry.contentRect.width);
            this.#draw();
        });
        this.observer.observe(this.svg.parentElement);
    }

    /// Shows other points: {atMilliseconds, KEY: value}, the oldest first.
    update(points, intervalSeconds) {
        this.points = points;
        this.intervalSeconds = intervalSeconds;
        this.index = null;
        this.#draw();
    }

    close() {
        this.observer.disconnect();
    }

    #point(event) {
        const { left } = this.svg.getBoundingClientRect();
        if (this.scale) this.#select(nearest(this.points, this.scale.momentAt(event.clientX - left)));
    }

    #key(event) {
        const step = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity }[event.key];
        if (step === undefined || this.points.length === 0) return;
        event.preventDefault();
        const last = this.points.length - 1;
        this.#select(Math.min(last, Math.max(0, (this.index ?? last) + step)));
        this.spoken.textContent = this.#sentence(this.points[this.index]);
    }

    #select(index) {
        if (index === this.index) return;
        this.index = index;
        this.#draw();
    }

    #sentence(point) {
        const values = this.lines.map((line) => `${line.label} ${this.format(point[line.key])}`);
        return `${this.formatMoment(point.atMilliseconds)}: ${values.join(", ")}`;
    }

    #draw() {
        const shown = this.points[this.index ?? this.points.length - 1];
        renew(this.moment, this.index === null || !shown ? "" : this.formatMoment(shown.atMilliseconds));
        renew(this.legend, this.lines.map((line) => h("li", {},
            h("span", { class: `swatch color-${line.color}` }), `${line.label} `,
            h("b", {}, shown ? this.format(shown[line.key]) : "–"))));
        this.svg.setAttribute("aria-label", `${this.title}. ${shown ? this.#sentence(shown) : "No data yet."}`);
        if (this.width < 80) return;
        this.svg.setAttribute("viewBox", `0 0 ${this.width} ${HEIGHT}`);
        renew(this.svg, this.points.length < 2 ? this.#placeholder() : this.#plot(shown));
    }

    #placeholder() {
        return s("text", { x: this.width / 2, y: HEIGHT / 2, class: "placeholder" }, "Waiting for data …");
    }

    #plot(shown) {
        const first = this.points[0].atMilliseconds;
        const last = this.points.at(-1).atMilliseconds;
        const values = this.points.flatMap((point) => this.lines.map((line) => point[line.key] ?? 0));
        const ticks = valueTicks(Math.max(this.least, ...values));
        const plotWidth = this.width - MARGIN.left - MARGIN.right;
        const bottom = HEIGHT - MARGIN.bottom;
        const x = (moment) => MARGIN.left + (plotWidth * (moment - first)) / (last - first || 1);
        const y = (value) => bottom - ((bottom - MARGIN.top) * value) / ticks.at(-1);
        this.scale = { momentAt: (left) => first + ((left - MARGIN.left) / plotWidth) * (last - first) };
        const pause = this.intervalSeconds * 3000;
        return [
            ticks.map((tick) => [
                s("line", { class: "grid", x1: MARGIN.left, x2: this.width - MARGIN.right, y1: y(tick), y2: y(tick) }),
                s("text", { class: "value", x: MARGIN.left - 7, y: y(tick) + 4 }, this.formatTick(tick)),
            ]),
            timeTicks(first, last, Math.max(2, Math.floor(plotWidth / LABEL_WIDTH))).map((tick) =>
                s("text", { class: "time", x: Math.min(x(tick), this.width - this.timeWidth / 2), y: HEIGHT - 5 },
                    this.formatTime(tick))),
            this.isFilled && this.#area(this.lines[0], x, y, bottom),
            [...this.lines].reverse().map((line) => s("path", {
                class: `line color-${line.color}`, d: linePath(this.points, line.key, x, y, pause),
            })),
            this.index !== null && s("line", {
                class: "cursor", x1: x(shown.atMilliseconds), x2: x(shown.atMilliseconds), y1: MARGIN.top, y2: bottom,
            }),
        ];
    }

    #area(line, x, y, bottom) {
        const path = linePath(this.points.map((point) => ({ [line.key]: 0, ...point })), line.key, x, y);
        const edges = [this.points.at(-1), this.points[0]].map(
            (point) => `L${x(point.atMilliseconds).toFixed(1)} ${bottom}`);
        return s("path", { class: `area color-${line.color}`, d: `${path}${edges.join("")}Z` });
    }
}
