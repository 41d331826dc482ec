// The text of a problem, its parameters, and what the hardware allows for its cases.

import { useQuery } from "@tanstack/preact-query";
import type { Schemas } from "../gateway/client";
import * as queries from "../gateway/queries";
import { figure, milliseconds } from "../page/format";
import { Inline, Markdown } from "../page/markdown";
import { Table } from "../page/table";

type Problem = Schemas["ProblemDetail"];

const PARAMETER_COLUMNS = [
  { title: "Parameter", class: "mono" },
  { title: "Type", class: "mono" },
  { title: "Meaning" },
];
const CASE_COLUMNS = [
  { title: "Case" },
  { title: "At least", class: "number" },
  { title: "Bound by" },
  { title: "MB", class: "number" },
  { title: "GFLOP", class: "number" },
];

export function Statement({ problem, dtype, gpuType }: { problem: Problem; dtype: string; gpuType: string }) {
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: people scroll it with the keyboard */}
      <section id="signature" class="signature" aria-label="Signature" tabIndex={0}>
        {`extern "C" void solution(\n    ${problem.signature.split(/,\s*/).join(",\n    ")})`}
      </section>
      <Markdown
        id="statement"
        class="statement"
        text={problem.statement}
        isShown={(tag, text, at) => isNews(problem, tag, text, at)}
      />
      <section class="statement" id="parameters">
        <h2>Parameters</h2>
        <Table caption="Parameters" columns={PARAMETER_COLUMNS} rows={problem.parameters.map(parameterCells)} />
      </section>
      <Cases problem={problem} dtype={dtype} gpuType={gpuType} />
    </>
  );
}

// The page shows title, signature and parameters already.
function isNews({ parameters }: Problem, tag: string, text: string, at: number): boolean {
  const isTitle = at === 0 && tag === "h1";
  const isSignature = tag === "code" && text.startsWith('extern "C" void solution(');
  const isParameters = tag === "ul" && parameters.some(({ name }) => text.startsWith(`\`${name}\`: `));
  return !isTitle && !isSignature && !isParameters;
}

function parameterCells({ name, type, const: isConst, pointer, meaning }: Schemas["ProblemParameter"]) {
  return [name, `${isConst ? "const " : ""}${type}${pointer ? "*" : ""}`, <Inline key={name} text={meaning} />];
}

// Those of another GPU type than the problem came with are asked for.
function Cases({ problem, dtype, gpuType }: { problem: Problem; dtype: string; gpuType: string }) {
  const isOther = gpuType !== "" && gpuType !== problem.gpu_type;
  const asked = useQuery({ ...queries.problem(problem.slug, dtype, gpuType), enabled: isOther });
  const shown = isOther ? asked.data : problem;
  if (!shown?.cases.length) return null;
  const isKnown = shown.cases.some(({ least_ms: least }) => least !== null);
  return (
    <section class="statement" id="cases">
      <h2>What the {shown.gpu_type} allows</h2>
      <Table caption="Cases" columns={CASE_COLUMNS} rows={shown.cases.map(caseCells)} />
      <p class="hint">
        {isKnown
          ? "At least: the time of a call that reaches the GPU's roof, by its maker's figures."
          : `The maker's figures for ${shown.gpu_type} are not known here.`}
      </p>
    </section>
  );
}

function caseCells({ name, bytes, flops, least_ms: least, bound }: Schemas["ProblemCase"]) {
  return [name, milliseconds(least), bound?.toLowerCase() ?? "", figure(bytes / 1e6), figure(flops / 1e9)];
}
