// The address of a view: `#/dead-letters/ID?reason=no-token`. Pure functions, tested by node.

/// Reads the part of an address from `#` on.
export function parseRoute(hash) {
    const [path, query = ""] = hash.replace(/^#\/?/, "").split(/\?(.*)/s);
    const [view, ...rest] = path.split("/");
    return { view: view || "now", id: decode(rest.join("/")), query: Object.fromEntries(new URLSearchParams(query)) };
}

/// Writes an address; values that are empty are left out.
export function formatRoute(view, id, query = {}) {
    const search = formatQuery(query);
    return `#/${view}${id ? `/${encodeURIComponent(id)}` : ""}${search && `?${search}`}`;
}

/// Writes a query; values that are empty are left out.
export function formatQuery(query) {
    const search = new URLSearchParams();
    for (const [name, value] of Object.entries(query)) {
        if (value !== undefined && value !== null && value !== "") search.set(name, value);
    }
    return search.toString();
}

function decode(text) {
    try {
        return decodeURIComponent(text);
    } catch {
        return text;
    }
}
