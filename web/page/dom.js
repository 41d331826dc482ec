// Builds elements. All text goes in as text nodes: nothing that a user or a compiler wrote is ever read as markup.

const SVG = "http://www.w3.org/2000/svg";

export function element(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

export function svg(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

export function byId(id) {
  return document.getElementById(id);
}

export function table(caption, columns, rows, className = "") {
  const head = columns.map(({ title, className: kind = "" }) =>
    element("th", { scope: "col", className: kind }, title),
  );
  const body = rows.map((cells) =>
    element("tr", {}, ...cells.map((cell, at) => element("td", { className: columns[at].className ?? "" }, cell))),
  );
  return element(
    "table",
    { className },
    element("caption", { className: "visually-hidden" }, caption),
    element("thead", {}, element("tr", {}, ...head)),
    element("tbody", {}, ...body),
  );
}

function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "className") node.setAttribute("class", value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== ""));
  return node;
}
