// What the MI300X's compiler makes of the kernels: registers, occupancy, and what could be better.

import { element, table } from "../page/dom.js";
import { inline } from "../page/markdown.js";

const LIMITS = { vgpr: "registers", sgpr: "scalar registers", lds: "LDS", block: "block size" };
const COLUMNS = ["Kernel", "VGPR", "SGPR", "AGPR", "LDS", "Scratch", "Spills", "MFMA", "Waves / SIMD"];

// `goTo(line, column)` shows a line of the source.
export function kernelsView({ isa, isa_note: note, isa_toolchain: toolchain }, goTo) {
  const entries = Object.entries(isa ?? {});
  if (!entries.length && !note) return null;
  const hints = entries.flatMap(([name, kernel]) => (kernel.hints ?? []).map((hint) => ({ name, ...hint })));
  const count = hints.length ? ` · ${hints.length} ${hints.length === 1 ? "hint" : "hints"}` : "";
  return element(
    "details",
    { className: "kernels", open: hints.length > 0 },
    element("summary", {}, `What the kernels need on an MI300X${count}`),
    entries.length ? element("div", { className: "table-scroll" }, resources(entries)) : null,
    hints.length ? element("ul", { className: "hints" }, ...hints.map((hint) => hintItem(hint, goTo))) : null,
    note ? element("p", { className: "kernels-note" }, ...inline(note)) : null,
    toolchain ? element("p", { className: "kernels-note" }, toolchain) : null,
  );
}

function resources(entries) {
  const columns = COLUMNS.map((title, at) => ({ title, className: at ? "number" : "mono" }));
  const rows = entries.map(([name, kernel]) => [
    name,
    String(kernel.vgpr),
    String(kernel.sgpr),
    String(kernel.agpr),
    `${kernel.lds_bytes} B${kernel.dynamic_lds ? " + launch's" : ""}`,
    `${kernel.scratch_bytes} B`,
    String(kernel.spills),
    String(kernel.mfma ?? ""),
    occupancy(kernel),
  ]);
  return table("Kernel resources", columns, rows);
}

function occupancy(kernel) {
  const limit = LIMITS[kernel.limited_by];
  return limit ? `${kernel.occupancy} of 8 (${limit})` : String(kernel.occupancy);
}

function hintItem({ name, line, what, why, advice }, goTo) {
  const place = line
    ? element("button", { type: "button", className: "link-button", onclick: () => goTo(line, 1) }, `line ${line}`)
    : null;
  return element(
    "li",
    {},
    element("strong", {}, element("span", { className: "mono" }, name), place ? ", " : "", place, `: ${what}.`),
    element("p", {}, `Why: ${why}.`),
    element("p", {}, `What to do: ${advice}.`),
  );
}
