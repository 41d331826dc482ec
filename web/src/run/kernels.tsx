// What the MI300X's compiler makes of the kernels: registers, occupancy, and what could be better.

import type { Schemas } from "../gateway/client";
import { Inline } from "../page/markdown";
import { Table } from "../page/table";
import type { GoTo } from "./outcome";

const LIMITS: Record<string, string> = { vgpr: "registers", sgpr: "scalar registers", lds: "LDS", block: "block size" };
const COLUMNS = [
  "Kernel",
  "VGPR",
  "SGPR",
  "AGPR",
  "LDS",
  "Scratch",
  "Spills",
  "MFMA",
  "Waves / SIMD",
  "For one more",
].map((title, at) => ({ title, class: at ? "number" : "mono" }));

type Isa = Pick<Schemas["EndedEvent"], "isa" | "isa_note" | "isa_toolchain">;

export function Kernels({ isa, isa_note: note, isa_toolchain: toolchain, goTo }: Isa & { goTo: GoTo }) {
  const kernels = Object.entries(isa ?? {});
  if (!kernels.length && !note) return null;
  const hints = kernels.flatMap(([name, kernel]) => kernel.hints.map((hint) => ({ name, ...hint })));
  const count = hints.length ? ` · ${hints.length} ${hints.length === 1 ? "hint" : "hints"}` : "";
  const rows = kernels.map(([name, kernel]) => cells(name, kernel));
  return (
    <details class="kernels" open={hints.length > 0}>
      <summary>What the kernels need on an MI300X{count}</summary>
      {rows.length ? <Table caption="Kernel resources" columns={COLUMNS} rows={rows} /> : null}
      {hints.length ? (
        <ul class="hints">
          {hints.map((hint) => (
            <HintItem key={`${hint.name} ${hint.line} ${hint.what}`} {...hint} goTo={goTo} />
          ))}
        </ul>
      ) : null}
      {note ? (
        <p class="kernels-note">
          <Inline text={note} />
        </p>
      ) : null}
      {toolchain ? <p class="kernels-note">{toolchain}</p> : null}
    </details>
  );
}

function cells(name: string, kernel: Schemas["KernelIsa"]): string[] {
  const limit = LIMITS[kernel.limited_by ?? ""];
  return [
    name,
    String(kernel.vgpr),
    String(kernel.sgpr),
    String(kernel.agpr),
    `${kernel.lds_bytes} B${kernel.dynamic_lds ? " + launch's" : ""}`,
    `${kernel.scratch_bytes} B`,
    String(kernel.spills),
    String(kernel.mfma),
    limit ? `${kernel.occupancy} of 8 (${limit})` : String(kernel.occupancy),
    forOneMore(kernel),
  ];
}

// What one wavefront more on each SIMD would need.
export function forOneMore({ limited_by: limit, next_step_saving: saving }: Schemas["KernelIsa"]): string {
  if (!saving) return "–";
  return limit === "lds" ? `${saving} B of LDS less` : `${saving} registers less`;
}

function HintItem({ name, line, what, why, advice, goTo }: Schemas["IsaHint"] & { name: string; goTo: GoTo }) {
  return (
    <li>
      <strong>
        <span class="mono">{name}</span>
        {line ? (
          <>
            ,{" "}
            <button type="button" class="link-button" onClick={() => goTo(line, 1)}>
              line {line}
            </button>
          </>
        ) : null}
        {`: ${what}.`}
      </strong>
      <p>Why: {why}.</p>
      <p>What to do: {advice}.</p>
    </li>
  );
}
