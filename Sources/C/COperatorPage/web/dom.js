// Elements, and their renewal in place. Text goes in as text nodes only, so no name from outside can become markup.

const SVG = "http://www.w3.org/2000/svg";

/// Returns an element; attributes that are false, null or undefined are left out, and so are such children.
export function h(tag, attributes, ...children) {
    return fill(document.createElement(tag), attributes, children);
}

/// Returns an element of SVG.
export function s(tag, attributes, ...children) {
    return fill(document.createElementNS(SVG, tag), attributes, children);
}

function fill(element, attributes, children) {
    for (const [name, value] of Object.entries(attributes ?? {})) {
        if (value === false || value === null || value === undefined) continue;
        element.setAttribute(name, value === true ? "" : String(value));
    }
    append(element, children);
    return element;
}

function append(element, children) {
    for (const child of children) {
        if (Array.isArray(child)) append(element, child);
        else if (child instanceof Node) element.append(child);
        else if (child !== null && child !== undefined && child !== false) element.append(String(child));
    }
}

/// Replaces what is in an element, keeping elements that are still there: focus, selection and scrolling survive.
export function renew(element, ...children) {
    const wanted = document.createDocumentFragment();
    append(wanted, children);
    renewChildren(element, wanted);
}

/// Rows that come and go have an attribute `data-key`, so that a focused button never becomes that of another row.
function renewChildren(element, wanted) {
    const keyed = new Map();
    for (const child of element.children) {
        if (child.dataset?.key !== undefined) keyed.set(child.dataset.key, child);
    }
    let present = element.firstChild;
    for (const next of [...wanted.childNodes]) {
        const key = next.dataset?.key;
        let match = key === undefined ? present : keyed.get(key);
        if (key === undefined && match?.dataset?.key !== undefined) match = null;
        if (!match || !isSameKind(match, next)) {
            element.insertBefore(next, present);
            continue;
        }
        if (match === present) present = present.nextSibling;
        else element.insertBefore(match, present);
        renewNode(match, next);
    }
    while (present) {
        const after = present.nextSibling;
        present.remove();
        present = after;
    }
}

function isSameKind(first, second) {
    return first.nodeType === second.nodeType && first.nodeName === second.nodeName;
}

function renewNode(node, wanted) {
    if (node.nodeType !== Node.ELEMENT_NODE) {
        if (node.data !== wanted.data) node.data = wanted.data;
        return;
    }
    for (const { name } of [...node.attributes]) {
        // A person opened it.
        if (!wanted.hasAttribute(name) && !(name === "open" && node.nodeName === "DETAILS")) node.removeAttribute(name);
    }
    for (const { name, value } of wanted.attributes) {
        if (node.getAttribute(name) !== value) node.setAttribute(name, value);
    }
    if (node.type === "checkbox") node.checked = wanted.checked;
    renewChildren(node, wanted);
}

/// A button that a view's own listener acts on: `data-act` names the act, other `data-` attributes its arguments.
export function button(act, label, data = {}, attributes = {}) {
    const named = Object.fromEntries(Object.entries(data).map(([name, value]) => [`data-${name}`, value]));
    return h("button", { type: "button", "data-act": act, ...named, ...attributes }, label);
}

/// Calls the function that a view has for the act of the button that was pressed.
export function listen(element, acts) {
    element.addEventListener("click", (event) => {
        const target = event.target.closest("[data-act]");
        if (target && element.contains(target)) acts[target.dataset.act]?.(target.dataset, target);
    });
}

/// A table with a caption for those who cannot see the heading above it.
///
/// - columns: {label, isNumber, isTime}; rows: {key, cells, attributes}. On a narrow screen each cell shows its label.
export function table(caption, columns, rows, attributes = {}) {
    return h("div", { class: "table", role: "region", tabindex: "0", "aria-label": caption, ...attributes },
        h("table", {},
            h("caption", { class: "hidden" }, caption),
            h("thead", {}, h("tr", {}, columns.map((column) =>
                h("th", { scope: "col", class: cellClass(column) }, column.label)))),
            h("tbody", {}, rows.map((row) => h("tr", { "data-key": row.key, ...row.attributes },
                row.cells.map((cell, index) => h("td", {
                    class: cellClass(columns[index]), "data-label": textOf(columns[index].label),
                }, cell)))))));
}

function cellClass({ isNumber, isTime }) {
    return isNumber ? "number" : isTime && "when";
}

function textOf(label) {
    return label instanceof Node ? "" : label;
}

/// A word in a coloured capsule; the colour only repeats what the word says.
export function chip(kind, text) {
    return h("span", { class: `chip ${kind}` }, text);
}

/// Terms and their values; those without a value are left out.
export function facts(entries) {
    return h("dl", { class: "facts" }, entries
        .filter(([, value]) => value !== undefined && value !== null && value !== "")
        .map(([term, value]) => h("div", {}, h("dt", {}, term), h("dd", {}, value))));
}
