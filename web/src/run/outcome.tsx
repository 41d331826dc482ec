// What came of a run: verdict, tests, mismatches, times, output.

import type { ComponentChildren } from "preact";
import type { Schemas } from "../gateway/client";
import { count, dollars, exact, figure, isNumber, milliseconds } from "../page/format";
import { Inline } from "../page/markdown";
import { Table } from "../page/table";
import { Benchmarks } from "./benchmarks";
import { diagnostic } from "./diagnostics";
import type { Benchmark, Ended, TestResult } from "./frames";
import { Kernels } from "./kernels";
import { Profiled } from "./profiled";
import type { Run } from "./run_state";
import { isMeasured, isTimed, statusKind, testKind, timingKind, timingWord, verdictTitle } from "./verdicts";

// Shows a line of the source.
export type GoTo = (line: number, column: number) => void;

const MISMATCH_COLUMNS = ["Index", "Output", "Expected", "Yours", "Difference"].map((title, at) => ({
  title,
  class: at > 1 ? "number mono" : "mono",
}));

export function Outcome({ run, goTo }: { run: Run; goTo: GoTo }) {
  const { final, compiled } = run;
  // In the mode `benchmark` they are times.
  const isMeasurement = final?.status === "BENCHMARKED";
  const times = isMeasurement ? (final.test_results as Benchmark[] | undefined) : undefined;
  const benchmarks = final?.benchmark_results ?? times ?? run.benchmarks;
  const ended = isMeasurement ? [] : ((final?.test_results ?? []) as TestResult[]);
  // Of the tests, the steps name those that passed, the end also one that failed and those that were not run.
  const tests = ended.length ? ended : run.tests;
  const device = run.device ?? { name: final?.device ?? "", title: final?.device_title ?? "this machine" };
  return (
    <>
      {final ? <Verdict {...final} /> : null}
      {final ? <Figures final={final} fallbacks={run.fallbacks} /> : null}
      {final?.details ? <Diagnostics title="Details" text={final.details} goTo={goTo} /> : null}
      {final?.debug_info?.sample_differences ? <FirstMismatches {...final.debug_info} /> : null}
      {final?.expected_output !== undefined ? <Sample {...final} /> : null}
      {tests.length ? <Tests tests={tests} /> : null}
      {benchmarks.length ? <Benchmarks results={benchmarks} device={device} timing={run.timing} /> : null}
      {final?.profile ? <Profiled profile={final.profile} /> : null}
      {compiled?.warnings ? <Diagnostics title="Compiler warnings" text={compiled.warnings} goTo={goTo} /> : null}
      <Kernels {...(final?.isa ? final : compiled)} goTo={goTo} />
      <Output run={run} />
    </>
  );
}

function Verdict(final: Ended) {
  return (
    <div class={`verdict ${statusKind(final.status)}`}>
      <strong>{verdictTitle(final)}</strong>
      {isTimed(final.status, final) ? (
        <strong class={`timing ${timingKind(final)}`}>Timing {timingWord(final)}</strong>
      ) : null}
      {final.message ? (
        <p>
          <Inline text={final.message} />
        </p>
      ) : null}
    </div>
  );
}

function Figures({ final, fallbacks }: { final: Ended; fallbacks: readonly string[] }) {
  const { avg_runtime_ms: mean, avg_gflops: gflops, total_tests: total, return_code: code, cost_usd: cost } = final;
  const isShown = isMeasured(final);
  const figures: [string, string | null | undefined][] = [
    [final.simulated ? "Simulated mean" : "Mean runtime", isShown && isNumber(mean) ? milliseconds(mean) : null],
    ["Mean GFLOP/s", isShown && isNumber(gflops) ? figure(gflops) : null],
    ["Tests passed", total ? `${final.passed_tests ?? total} / ${total}` : null],
    ["Converged", final.converged === false && isNumber(mean) ? "no" : null],
    ["Exit code", isNumber(code) ? String(code) : null],
    ["GPU", fallbacks.length ? final.machine_gpu_type : null],
    ["Cost", isNumber(cost) ? dollars(cost) : null],
  ];
  return (
    <dl class="figures">
      {figures.map(([name, value]) =>
        value === null || value === undefined ? null : (
          <div class="figure" key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ),
      )}
    </dl>
  );
}

// Text that people scroll, with the keyboard too.
function Log({ class: kind = "", children }: { class?: string; children: ComponentChildren }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls
    <pre class={`log ${kind}`} tabIndex={0}>
      {children}
    </pre>
  );
}

function Diagnostics({ title, text, goTo }: { title: string; text: string; goTo: GoTo }) {
  const lines = text.split("\n").map((line, at) => {
    const found = diagnostic(line);
    if (!found) return `${line}\n`;
    return [
      <button type="button" class="link-button" key={at} onClick={() => goTo(found.line, found.column)}>
        {line}
      </button>,
      "\n",
    ];
  });
  return (
    <section>
      <h3>{title}</h3>
      <Log class="unwrapped">{lines}</Log>
    </section>
  );
}

function FirstMismatches(info: Schemas["DebugInfo"]) {
  const rows = Object.entries(info.sample_differences ?? {}).map(([index, { expected, actual, diff, output }]) => [
    index.split(")")[0]?.concat(")"),
    output ?? "",
    finite(expected, exact),
    <span class="mismatch-actual" key="actual">
      {finite(actual, exact)}
    </span>,
    finite(diff, figure),
  ]);
  const { mismatch_count: differ, element_count: all, max_difference: largest, mean_difference: mean } = info;
  const counted = differ && all ? `${count(differ)} of ${count(all)} elements differ; ` : "";
  return (
    <section>
      <h3>First mismatches</h3>
      <p class="hint">
        {counted}largest difference {figure(largest)}, mean {figure(mean)}.
      </p>
      {rows.length ? (
        <div class="table-scroll">
          <Table caption="First mismatches" columns={MISMATCH_COLUMNS} rows={rows} />
        </div>
      ) : null}
    </section>
  );
}

// JSON has no NaN and no infinities: the gateway writes null for them.
function finite(value: number | null, shown: (value: number) => string): string {
  return value === null ? "NaN or inf" : shown(value);
}

function Sample({ input, output, expected_output: expected }: Ended) {
  const columns: [string, unknown][] = [
    ["Input", input],
    ["Your output", output],
    ["Expected", expected],
  ];
  return (
    <section class="columns">
      {columns.map(([title, value]) => (
        <div key={title}>
          <h3>{title}</h3>
          <Log class="unwrapped">{readable(value)}</Log>
        </div>
      ))}
    </section>
  );
}

function readable(value: unknown): string {
  if (typeof value === "string") return value;
  const named = entries(value);
  return named ? named.map(([name, item]) => `${name} = ${rows(item)}`).join("\n") : rows(value);
}

function entries(value: unknown): [string, unknown][] | null {
  if (!value || typeof value !== "object" || Array.isArray(value)) return null;
  if (!("multi" in value)) return Object.entries(value);
  const { values, names } = value as Schemas["SampleOutputs"];
  return values.map((item, at) => [names?.[at] ?? `output ${at + 1}`, item]);
}

function rows(value: unknown): string {
  if (!Array.isArray(value)) return exact(value);
  const isGrid = value.some(Array.isArray);
  return isGrid ? `\n${value.map((row) => `  ${rows(row)}`).join("\n")}` : value.map(exact).join("  ");
}

function Tests({ tests }: { tests: TestResult[] }) {
  return (
    <section>
      <h3>Tests</h3>
      <ul class="tests">
        {tests.map(({ name, status }) => {
          const { kind, mark, word } = testKind(status);
          return (
            <li class={kind} key={name} title={word}>
              <span class="mark" aria-hidden="true">
                {mark}
              </span>
              {name}
              <span class="visually-hidden">{word}</span>
            </li>
          );
        })}
      </ul>
    </section>
  );
}

function Output({ run: { lines, final } }: { run: Run }) {
  const { stdout, stderr, total_tests: tests } = final ?? {};
  if (!lines.length && !stdout && !stderr) return null;
  return (
    <section>
      <h3>Output</h3>
      {tests ? <p class="hint">A case may be run more than once, and each run prints.</p> : null}
      <Log>
        {lines.length ? (
          lines.map(({ stream, line }, at) => (
            <span class={stream} key={at}>
              {`${line}\n`}
            </span>
          ))
        ) : (
          <>
            {stdout}
            {stderr ? <span class="stderr">{stderr}</span> : null}
          </>
        )}
      </Log>
    </section>
  );
}
