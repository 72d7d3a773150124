// Requests to the server that served the page. All addresses are relative, so the page works behind any prefix.

import { parseJSON } from "./format.js";

const TIMEOUT_MILLISECONDS = 20_000;

/// A request that failed; `message` is a sentence for people.
export class RequestError extends Error {
    constructor(message, { status = 0, code = "unreachable", retryAfterSeconds = 0 } = {}) {
        super(message);
        this.status = status;
        this.code = code;
        this.retryAfterSeconds = retryAfterSeconds;
    }
}

/// Reads something.
export function get(path) {
    return request(path, { method: "GET" });
}

/// Does something; the answer is what the server made of it.
export function post(path, body = {}) {
    return postText(path, JSON.stringify(body));
}

/// Does something with a body that is JSON already, whose numbers must stay as they are written.
export function postText(path, text) {
    return request(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: text });
}

async function request(path, options) {
    const abort = new AbortController();
    const timer = setTimeout(() => abort.abort(), TIMEOUT_MILLISECONDS);
    try {
        const response = await fetch(`api/${path}`, {
            ...options, signal: abort.signal, credentials: "same-origin", cache: "no-store", redirect: "error",
        });
        return read(response, await response.text());
    } catch (error) {
        if (error instanceof RequestError) throw error;
        throw new RequestError(abort.signal.aborted
            ? `The server did not answer within ${TIMEOUT_MILLISECONDS / 1000} s.`
            : "The server cannot be reached, or a proxy asks for a new login: then reload the page.");
    } finally {
        clearTimeout(timer);
    }
}

function read(response, text) {
    let answer;
    try {
        answer = parseJSON(text);
    } catch {
        throw new RequestError(
            `Something between this page and the server answered with status ${response.status}, and not in JSON.`,
            { status: response.status, code: "not-json" });
    }
    if (response.ok) return answer;
    throw new RequestError(answer?.error?.message ?? `The server answered with status ${response.status}.`, {
        status: response.status, code: answer?.error?.code ?? "unknown",
        retryAfterSeconds: Number(response.headers.get("Retry-After")) || 0,
    });
}
