// Which of many apps are shown. Pure, tested by node.

/// From this number on there is a filter.
export const FILTER_MINIMUM = 10;
/// How many apps are shown before somebody asks for more: those with the most trouble, which come first.
const SHOWN_MAXIMUM = 50;
/// How many apps of a worker are told one by one.
const TOLD_MAXIMUM = 4;

/// The apps whose names, states or reasons have every word of a filter, and how many of them are left out.
export function shownApps(apps, { filter = "", isWhole = false } = {}) {
    const words = filter.toLowerCase().split(/\s+/).filter((word) => word !== "");
    const found = apps.filter((app) => {
        const reasons = (app.reasons ?? []).map(({ reason }) => reason);
        const text = [app.name, app.paused ? "paused" : app.state, ...reasons].join(" ").toLowerCase();
        return words.every((word) => text.includes(word));
    });
    const shown = isWhole ? found : found.slice(0, SHOWN_MAXIMUM);
    return { shown, leftOut: found.length - shown.length };
}

/// The connections of a worker: of each app if they are few, else of all together.
export function connectionSums(connections = []) {
    if (connections.length <= TOLD_MAXIMUM) return connections;
    const sum = (name) => connections.reduce((total, each) => total + Number(each[name] ?? 0), 0);
    return [{ app: `${connections.length} apps`, open: sum("open"), streamsInUse: sum("streamsInUse") }];
}
