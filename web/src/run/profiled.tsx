// The kernels of a submission by the device's profiler, or why there are none.

import type { Schemas } from "../gateway/client";
import { isNumber, milliseconds } from "../page/format";
import { Table } from "../page/table";

interface ProfileColumn {
  title: string;
  class?: string;
  cell: (kernel: Schemas["ProfiledKernel"]) => string;
}

const COLUMNS: ProfileColumn[] = [
  { title: "Kernel", cell: ({ name }) => name, class: "mono" },
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

export function Profiled({ profile }: { profile: Schemas["Profile"] }) {
  const { kernels, kernels_left_out: more, note } = profile;
  const columns = COLUMNS.filter(({ cell }) => kernels.some((kernel) => cell(kernel) !== ""));
  const heads = columns.map(({ title, class: kind = "number" }) => ({ title, class: kind }));
  const rows = kernels.map((kernel) => columns.map(({ cell }) => cell(kernel)));
  return (
    <section class="profile">
      <h3>Profile</h3>
      {kernels.length ? <p class="hint">{origin(profile)}</p> : null}
      {rows.length ? <Table caption="Profiled kernels" columns={heads} rows={rows} /> : null}
      {more ? <p class="hint">and {more} more</p> : null}
      {note ? <p class="hint">{note}</p> : null}
    </section>
  );
}

function origin({ name, solution_calls: calls, tool, tool_version: version, clock }: Schemas["Profile"]): string {
  const doubt = clock === "HOST" ? " Times are by the host's clock: they say nothing about a GPU." : "";
  return `${calls} calls of ${name}, by ${[tool, version].filter(Boolean).join(" ")}.${doubt}`;
}

// Three numbers without the ones at their end.
function extent(numbers: number[] | null | undefined): string {
  return numbers ? numbers.join(" × ").replace(/( × 1){1,2}$/, "") : "";
}

function known(value: number | null | undefined, unit = ""): string {
  return isNumber(value) ? `${value}${unit}` : "";
}
