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

/// Writes a query; values that are empty are left out. A blank becomes %20, because servers may take a plus as it is.
export function formatQuery(query) {
    return Object.entries(query)
        .filter(([, value]) => value !== undefined && value !== null && value !== "")
        .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
        .join("&");
}

function decode(text) {
    try {
        return decodeURIComponent(text);
    } catch {
        return text;
    }
}
