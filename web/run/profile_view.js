// The kernels of a submission by the device's profiler, or why there are none.

import { element, table } from "../page/dom.js";
import { milliseconds } from "../page/format.js";

const COLUMNS = [
  { title: "Kernel", cell: ({ name }) => name, className: "mono" },
  { title: "Calls", cell: ({ calls }) => String(calls) },
  { title: "Mean", cell: ({ mean_ns: ns }) => milliseconds(ns / 1e6) },
  { title: "Min", cell: ({ min_ns: ns }) => milliseconds(ns / 1e6) },
  { title: "Max", cell: ({ max_ns: ns }) => milliseconds(ns / 1e6) },
  { title: "Share", cell: ({ share }) => `${(share * 100).toFixed(1)} %` },
  { title: "Grid", cell: ({ grid }) => extent(grid) },
  { title: "Block", cell: ({ block }) => extent(block) },
  { title: "VGPR", cell: ({ vgpr }) => known(vgpr) },
  { title: "AGPR", cell: ({ agpr }) => known(agpr) },
  { title: "SGPR", cell: ({ sgpr }) => known(sgpr) },
  { title: "LDS", cell: ({ lds_bytes: bytes }) => known(bytes, " B") },
  { title: "Scratch", cell: ({ scratch_bytes: bytes }) => known(bytes, " B") },
];

export function profileView(profile) {
  if (!profile) return null;
  const { kernels = [], kernels_left_out: more = 0, note } = profile;
  const columns = COLUMNS.filter(({ cell }) => kernels.some((kernel) => cell(kernel) !== ""));
  const heads = columns.map(({ title, className = "number" }) => ({ title, className }));
  const rows = kernels.map((kernel) => columns.map(({ cell }) => cell(kernel)));
  return element(
    "section",
    { className: "profile" },
    element("h3", {}, "Profile"),
    kernels.length ? element("p", { className: "hint" }, origin(profile)) : null,
    rows.length ? element("div", { className: "table-scroll" }, table("Profiled kernels", heads, rows)) : null,
    more ? element("p", { className: "hint" }, `and ${more} more`) : null,
    note ? element("p", { className: "hint" }, note) : null,
  );
}

function origin({ name, solution_calls: calls, tool, tool_version: version, clock }) {
  const doubt = clock === "HOST" ? " Times are by the host's clock: they say nothing about a GPU." : "";
  return `${calls} calls of ${name}, by ${[tool, version].filter(Boolean).join(" ")}.${doubt}`;
}

// Three numbers without the ones at their end.
function extent(numbers) {
  return numbers ? numbers.join(" × ").replace(/( × 1){1,2}$/, "") : "";
}

function known(value, unit = "") {
  return Number.isFinite(value) ? `${value}${unit}` : "";
}
