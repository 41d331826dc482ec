// What came of a run: verdict, tests, mismatches, times, output.

import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Schemas } from "../gateway/client";
import { CPU } from "../gateway/queries";
import { count, dollars, exact, figure, isNumber, measured } from "../page/format";
import { later } from "../page/later";
import { Inline } from "../page/markdown";
import { Table } from "../page/table";
import { Benchmarks } from "./benchmarks";
import { unitOfTimes, withSamples } from "./case_times";
import { diagnostic } from "./diagnostics";
import { Differences } from "./differences";
import type { Benchmark, Ended, TestResult } from "./frames";
import { Kernels } from "./kernels";
import { nextStep } from "./next_step";
import { Profiled } from "./profiled";
import type { Run } from "./run_state";
import { endKind, isGood, isMeasured, isTimed, testKind, timingKind, timingWord, verdictTitle } from "./verdicts";

const NEAR_END_PX = 8;

// Shows a line of the source.
export type GoTo = (line: number, column: number) => void;

const IsaView = later(() => import("../isa/isa_view"), <p class="empty">Reading the instructions…</p>);

const MISMATCH_COLUMNS = ["Index", "Output", "Expected", "Yours", "Difference"].map((title, at) => ({
  title,
  class: at > 1 ? "number mono" : "mono",
}));

export function Outcome({ run, goTo }: { run: Run; goTo: GoTo }) {
  const { final, compiled } = run;
  // What a program prints is what it was run for.
  const isProgram = run.stages.some(({ name }) => name === "Run");
  // In the mode `benchmark` they are times.
  const isMeasurement = final?.status === "BENCHMARKED";
  const times = isMeasurement ? (final.test_results as Benchmark[] | undefined) : undefined;
  const benchmarks = withSamples(final?.benchmark_results ?? times ?? [], run.benchmarks);
  const ended = isMeasurement ? [] : ((final?.test_results ?? []) as TestResult[]);
  // Of the tests, the steps name those that passed, the end also one that failed and those that were not run.
  const tests = ended.length ? ended : run.tests;
  const device = run.device ?? { name: final?.device ?? "", title: final?.device_title ?? "this machine" };
  return (
    <>
      {final ? <Verdict {...final} /> : null}
      {final ? <Figures final={final} cases={benchmarks} fallbacks={run.fallbacks} /> : null}
      {isProgram ? <Output run={run} /> : null}
      {final?.details ? <Diagnostics title="Details" text={final.details} goTo={goTo} /> : null}
      {final?.debug_info?.sample_differences ? <FirstMismatches {...final.debug_info} /> : null}
      {final?.debug_info ? <Differences {...final.debug_info} /> : null}
      {final?.expected_output !== undefined ? <Sample {...final} /> : null}
      {tests.length ? <Tests tests={tests} total={final?.total_tests ?? 0} /> : null}
      {benchmarks.length ? (
        <Benchmarks
          results={benchmarks}
          device={device}
          timing={run.timing}
          submissionId={final ? run.submissionId : ""}
        />
      ) : null}
      {final ? <NotTimed tests={tests} cases={benchmarks} wasWhole={isGood(final.status)} /> : null}
      {final?.profile ? <Profiled profile={final.profile} /> : null}
      {compiled?.warnings ? <Diagnostics title="Compiler warnings" text={compiled.warnings} goTo={goTo} /> : null}
      <Kernels {...(final?.isa ? final : compiled)} goTo={goTo} />
      {compiled && run.submissionId ? <Instructions key={run.submissionId} id={run.submissionId} /> : null}
      {isProgram ? null : <Output run={run} />}
    </>
  );
}

function Verdict(final: Ended) {
  const next = nextStep(final);
  return (
    <div class={`verdict ${endKind(final.status, final)}`}>
      <strong>{verdictTitle(final)}</strong>
      {isTimed(final.status, final) ? (
        <strong class={`timing ${timingKind(final)}`}>Timing {timingWord(final)}</strong>
      ) : null}
      {final.message ? (
        <p>
          <Inline text={final.message} />
        </p>
      ) : null}
      {next ? <p class="next-step">{next}</p> : null}
    </div>
  );
}

interface FiguresOf {
  final: Ended;
  cases: Benchmark[];
  fallbacks: readonly string[];
}

function Figures({ final, cases, fallbacks }: FiguresOf) {
  const {
    avg_runtime_ms: mean,
    avg_runtime_interval: interval,
    avg_gflops: gflops,
    total_tests: total,
    return_code: code,
    cost_usd: cost,
  } = final;
  const isShown = isMeasured(final);
  const figures: [string, string | null | undefined][] = [
    [
      final.simulated ? "Simulated mean" : "Mean runtime",
      isShown && isNumber(mean) ? shownMean(mean, interval, cases) : null,
    ],
    ["Mean GFLOP/s", isShown && isNumber(gflops) ? figure(gflops) : null],
    ["Tests passed", total ? `${final.passed_tests ?? total} / ${total}` : null],
    ["Converged", final.converged === false && isNumber(mean) ? "no" : null],
    ["Exit code", isNumber(code) ? String(code) : null],
    ["GPU", fallbacks.length ? (final.device === CPU ? CPU : final.machine_gpu_type) : null],
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

// Of the geometric mean; its unit is that of the table below.
function shownMean(mean: number, interval: number | null | undefined, cases: Benchmark[]): string {
  return measured(mean, mean * (interval ?? 0), unitOfTimes(cases.length ? cases : [{ runtime_ms: mean }]));
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
      {rows.length ? <Table caption="First mismatches" columns={MISMATCH_COLUMNS} rows={rows} /> : null}
    </section>
  );
}

// JSON has no NaN and no infinities: the gateway writes null for them.
function finite(value: number | null, shown: (value: number) => string): string {
  return value === null ? "NaN or inf" : shown(value);
}

// Below each other and scrolled together, so that the same element is at the same place; of a sample that failed, what is not equal is marked.
function Sample({ status, input, output, expected_output: expected }: Ended) {
  const width = Math.max(...[output, expected].flatMap(scalars).map(({ length }) => length), 0);
  const columns: [string, ComponentChildren][] = [
    ["Input", readable(input, undefined, 0)],
    ["Your output", readable(output, isGood(status) ? undefined : expected, width)],
    ["Expected", readable(expected, undefined, width)],
  ];
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls
    <section class="sample" aria-label="Sample" tabIndex={0}>
      <div>
        {columns.map(([title, value]) => [
          <h3 key={title}>{title}</h3>,
          <pre class="log unwrapped" key={`${title} of it`}>
            {value}
          </pre>,
        ])}
      </div>
    </section>
  );
}

function readable(value: unknown, other: unknown, width: number): ComponentChildren {
  if (typeof value === "string") return value;
  const named = entries(value);
  const others = new Map(entries(other) ?? []);
  return named
    ? named.map(([name, item], at) => [at ? "\n" : "", `${name} = `, rows(item, others.get(name), width)])
    : rows(value, other, width);
}

function entries(value: unknown): [string, unknown][] | null {
  if (!value || typeof value !== "object" || Array.isArray(value)) return null;
  if (!("multi" in value)) return Object.entries(value);
  const { values, names } = value as Schemas["SampleOutputs"];
  return values.map((item, at) => [names?.[at] ?? `output ${at + 1}`, item]);
}

function rows(value: unknown, other: unknown, width: number): ComponentChildren {
  if (!Array.isArray(value)) {
    const text = exact(value).padStart(width);
    return other === undefined || exact(other) === exact(value) ? text : <mark>{text}</mark>;
  }
  const isGrid = value.some(Array.isArray);
  const beside = Array.isArray(other) ? other : [];
  return value.map((item, at) => [isGrid ? "\n  " : at ? "  " : "", rows(item, beside[at], width)]);
}

// The values of a sample as they are shown.
function scalars(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(scalars);
  const named = entries(value);
  return named ? named.flatMap(([, item]) => scalars(item)) : typeof value === "string" ? [] : [exact(value)];
}

function Tests({ tests, total }: { tests: TestResult[]; total: number }) {
  const left = total - tests.length;
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
      {left > 0 ? <p class="hint">{`${left} ${left === 1 ? "test was" : "tests were"} not run.`}</p> : null}
    </section>
  );
}

// Cases whose tests passed, and which have no time.
function NotTimed({ tests, cases, wasWhole }: { tests: TestResult[]; cases: Benchmark[]; wasWhole: boolean }) {
  if (!cases.length) return null;
  const timed = new Set(cases.map(({ test_id: id }) => id));
  const names = tests.filter(({ test_id: id }) => !timed.has(id)).map(({ name }) => name);
  if (!names.length) return null;
  return (
    <p class="hint">
      {wasWhole ? "Checked, and by its problem never timed" : "Not timed, as the run ended before"}: {names.join(", ")}.
    </p>
  );
}

// Loaded when it is opened.
function Instructions({ id }: { id: string }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details class="instructions" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>Source and MI300X instructions</summary>
      {isOpen ? <IsaView id={id} /> : null}
    </details>
  );
}

// What was printed, as it comes: the end is followed unless somebody scrolled away from it.
function Output({ run: { lines, linesBefore, final } }: { run: Run }) {
  const log = useRef<HTMLPreElement>(null);
  const isAtEnd = useRef(true);
  useLayoutEffect(() => {
    if (log.current && lines.length && isAtEnd.current) log.current.scrollTop = log.current.scrollHeight;
  }, [lines]);
  const { stdout, stderr, total_tests: tests } = final ?? {};
  if (!lines.length && !stdout && !stderr) return null;
  return (
    <section>
      <h3>Output</h3>
      {tests ? <p class="hint">A case may be run more than once, and each run prints.</p> : null}
      {linesBefore ? <p class="hint">{`${count(linesBefore)} lines before these are not shown.`}</p> : null}
      <pre
        id="output"
        class="log"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls
        tabIndex={0}
        ref={log}
        onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
          isAtEnd.current = scrollHeight - scrollTop - clientHeight < NEAR_END_PX;
        }}
      >
        {lines.length ? (
          lines.map(({ stream, line }, at) => (
            <span class={stream} key={linesBefore + at}>
              {`${line}\n`}
            </span>
          ))
        ) : (
          <>
            {stdout}
            {stderr ? <span class="stderr">{stderr}</span> : null}
          </>
        )}
      </pre>
    </section>
  );
}
