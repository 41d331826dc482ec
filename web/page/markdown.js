// Renders the part of Markdown that problem statements use, as elements.

import { element } from "./dom.js";

const INLINE = /`([^`]+)`|\*\*([^*]+)\*\*|\*([^*\s][^*]*)\*|\[([^\]]+)\]\((https:\/\/[^)\s]+)\)|\$([^$\n]+)\$/g;

export function rendered(text) {
  const blocks = [];
  const lines = text.replaceAll("\r", "").split("\n");
  let at = 0;
  while (at < lines.length) {
    const [block, next] = blockAt(lines, at);
    if (block) blocks.push(block);
    at = next;
  }
  return blocks;
}

function blockAt(lines, at) {
  const line = lines[at];
  if (!line.trim()) return [null, at + 1];
  if (line.startsWith("```")) return fence(lines, at);
  const heading = line.match(/^(#{1,4})\s+(.*)$/);
  if (heading) return [element(`h${Math.min(heading[1].length + 1, 4)}`, {}, ...inline(heading[2])), at + 1];
  if (/^\s*\|/.test(line) && /^\s*\|?[\s:|-]+$/.test(lines[at + 1] ?? "")) return tableAt(lines, at);
  if (/^\s*[-*]\s+/.test(line)) return list(lines, at, "ul", /^\s*[-*]\s+/);
  if (/^\s*\d+\.\s+/.test(line)) return list(lines, at, "ol", /^\s*\d+\.\s+/);
  return paragraph(lines, at);
}

function fence(lines, at) {
  let end = at + 1;
  while (end < lines.length && !lines[end].startsWith("```")) end += 1;
  return [element("pre", { tabindex: 0 }, element("code", {}, lines.slice(at + 1, end).join("\n"))), end + 1];
}

function tableAt(lines, at) {
  let end = at + 2;
  while (end < lines.length && /^\s*\|/.test(lines[end])) end += 1;
  const row = (line, tag) => element("tr", {}, ...cells(line).map((cell) => element(tag, {}, ...inline(cell))));
  const body = lines.slice(at + 2, end).map((line) => row(line, "td"));
  const grid = element("table", {}, element("thead", {}, row(lines[at], "th")), element("tbody", {}, ...body));
  return [element("div", { className: "table-scroll" }, grid), end];
}

function cells(line) {
  return line
    .trim()
    .replace(/^\||\|$/g, "")
    .split("|")
    .map((cell) => cell.trim());
}

function list(lines, at, tag, bullet) {
  const items = [];
  let end = at;
  while (end < lines.length && lines[end].trim() && (bullet.test(lines[end]) || /^\s+/.test(lines[end]))) {
    if (bullet.test(lines[end])) items.push(lines[end].replace(bullet, ""));
    else items[items.length - 1] += ` ${lines[end].trim()}`;
    end += 1;
  }
  return [element(tag, {}, ...items.map((item) => element("li", {}, ...inline(item)))), end];
}

function paragraph(lines, at) {
  let end = at + 1;
  while (end < lines.length && lines[end].trim() && !/^(```|#{1,4}\s|\s*[-*]\s|\s*\d+\.\s|\s*\|)/.test(lines[end]))
    end += 1;
  return [element("p", {}, ...inline(lines.slice(at, end).join(" "))), end];
}

export function inline(text) {
  const parts = [];
  let at = 0;
  for (const match of text.matchAll(INLINE)) {
    parts.push(text.slice(at, match.index), inlineElement(match));
    at = match.index + match[0].length;
  }
  return [...parts, text.slice(at)];
}

function inlineElement([, code, strong, emphasis, label, address, formula]) {
  if (code) return element("code", {}, code);
  if (strong) return element("strong", {}, strong);
  if (emphasis) return element("em", {}, emphasis);
  if (label) return element("a", { href: address, rel: "noreferrer" }, label);
  return element("em", { className: "mono" }, formula);
}
