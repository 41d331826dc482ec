// A text area with line numbers, colours, and keys that programmers expect.

import { element } from "../page/dom.js";
import { tokens } from "./highlight.js";

const INDENT = "    ";
// Colouring longer sources on each key would be felt.
const MAX_COLOURED_CHARACTERS = 100_000;

export class Editor {
  constructor(root, { onChange, onSubmit }) {
    this.area = root.querySelector("textarea");
    this.numbers = root.querySelector(".line-numbers");
    this.colours = root.querySelector(".highlight");
    this.marked = new Set();
    this.tabLeaves = false;
    this.area.addEventListener("input", () => {
      this.marked.clear();
      this.#draw();
      onChange(this.area.value);
    });
    this.area.addEventListener("scroll", () => this.#scroll());
    this.area.addEventListener("keydown", (event) => this.#onKey(event, onSubmit));
    this.area.addEventListener("blur", () => {
      this.tabLeaves = false;
    });
    this.#draw();
  }

  get code() {
    return this.area.value;
  }

  set code(text) {
    this.area.value = text;
    this.marked.clear();
    this.area.scrollTo(0, 0);
    this.#draw();
  }

  mark(lines) {
    this.marked = new Set(lines);
    this.#draw();
  }

  goTo(line, column = 1) {
    const lines = this.area.value.split("\n");
    const before = lines.slice(0, line - 1).reduce((length, text) => length + text.length + 1, 0);
    const end = before + (lines[line - 1]?.length ?? 0);
    this.area.focus();
    this.area.setSelectionRange(Math.min(before + column - 1, end), end);
    const height = Number.parseFloat(getComputedStyle(this.area).lineHeight);
    this.area.scrollTop = Math.max(0, (line - 4) * height);
  }

  #onKey(event, onSubmit) {
    if (event.key === "Escape") this.tabLeaves = true;
    else if (event.key === "Tab" && !this.tabLeaves) this.#indent(event);
    else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      onSubmit();
    } else if (event.key === "Enter") this.#newLine(event);
    if (event.key !== "Escape" && event.key !== "Tab") this.tabLeaves = false;
  }

  #indent(event) {
    event.preventDefault();
    const { selectionStart: begin, selectionEnd: end, value } = this.area;
    if (begin === end && !event.shiftKey) {
      this.#type(INDENT);
      return;
    }
    const from = value.lastIndexOf("\n", begin - 1) + 1;
    const block = value.slice(from, end);
    const changed = event.shiftKey ? block.replace(/^(?: {1,4}|\t)/gm, "") : block.replace(/^/gm, INDENT);
    this.area.setSelectionRange(from, end);
    this.#type(changed);
    this.area.setSelectionRange(from, from + changed.length);
  }

  #newLine(event) {
    event.preventDefault();
    const before = this.area.value.slice(0, this.area.selectionStart);
    const line = before.slice(before.lastIndexOf("\n") + 1);
    this.#type(`\n${line.match(/^[ \t]*/)[0]}${/[{(]\s*$/.test(line) ? INDENT : ""}`);
  }

  // Goes through the browser's own editing, so that undo knows of it.
  #type(text) {
    if (!document.execCommand("insertText", false, text)) {
      this.area.setRangeText(text, this.area.selectionStart, this.area.selectionEnd, "end");
      this.area.dispatchEvent(new Event("input"));
    }
  }

  #draw() {
    const text = this.area.value;
    const count = text.split("\n").length;
    const numbers = Array.from({ length: count }, (_, at) => at + 1);
    this.numbers.replaceChildren(
      ...numbers.flatMap((number) => [
        this.marked.has(number) ? element("span", { className: "marked" }, `● ${number}`) : String(number),
        "\n",
      ]),
    );
    const isPlain = text.length > MAX_COLOURED_CHARACTERS;
    this.area.classList.toggle("plain", isPlain);
    const coloured = isPlain
      ? []
      : tokens(text).map(([kind, part]) =>
          kind === "plain" ? part : element("span", { className: `token-${kind}` }, part),
        );
    this.colours.replaceChildren(...coloured, "\n");
    this.#scroll();
  }

  #scroll() {
    this.numbers.style.transform = `translateY(${-this.area.scrollTop}px)`;
    this.colours.style.transform = `translate(${-this.area.scrollLeft}px, ${-this.area.scrollTop}px)`;
  }
}
