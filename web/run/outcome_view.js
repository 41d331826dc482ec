// What came of a run: verdict, tests, mismatches, times, output.

import { element, table } from "../page/dom.js";
import { count, dollars, exact, figure, milliseconds } from "../page/format.js";
import { inline } from "../page/markdown.js";
import { benchmarkTable, isMeasured, timingKind, timingWord } from "./benchmark_view.js";
import { kernelsView } from "./kernels_view.js";
import { profileView } from "./profile_view.js";
import { GOOD } from "./run_state.js";

const DIAGNOSTIC = /^(?:[^\s:]*:)?(\d+):(?:(\d+):)?\s*(?:fatal )?(error|warning|note):/;
const TITLES = {
  ACCEPTED: "Accepted",
  CHECKED: "All tests passed",
  BENCHMARKED: "Measured",
  PASSED: "Sample passed",
  FAILED: "Sample failed",
  SANDBOX_SUCCESS: "Program ran",
  SANDBOX_ERROR: "Program failed",
  SANDBOX_TIMEOUT: "Out of time",
  SANDBOX_OUTPUT_LIMIT: "Too much output",
  COMPILE_ERROR: "Compile error",
  WRONG_ANSWER: "Wrong answer",
  RUNTIME_ERROR: "Runtime error",
  TIME_LIMIT_EXCEEDED: "Time limit exceeded",
  MEMORY_LIMIT_EXCEEDED: "Memory limit exceeded",
  CANCELLED: "Cancelled",
  ERROR: "Error",
  INFRA_ERROR: "Our fault, not charged",
  TIMING_INVALID: "Timing invalid",
  PROBLEM_ERROR: "The problem definition failed",
  UNSTABLE: "Timing unstable",
};

export function statusKind(status) {
  if (GOOD.has(status)) return "good";
  return status === "CANCELLED" ? "warn" : "bad";
}

export function statusTitle(status) {
  return TITLES[status] ?? status;
}

// Verdicts that front ends know as ERROR, and that are about the submission all the same.
function verdictTitle(status, verdict) {
  return status === "ERROR" && TITLES[verdict] ? TITLES[verdict] : statusTitle(status);
}

export function outcome(run, goTo) {
  const data = run.final?.data ?? {};
  const benchmarks =
    data.benchmark_results ?? (run.final?.status === "BENCHMARKED" ? data.test_results : null) ?? run.benchmarks;
  const tests = run.tests.length || benchmarks === data.test_results ? run.tests : (data.test_results ?? []);
  return [
    run.final ? verdict(run.final) : null,
    run.final ? figures(data, run.fallbacks) : null,
    data.details ? diagnostics("Details", data.details, goTo) : null,
    data.debug_info?.sample_differences ? mismatches(data.debug_info) : null,
    data.expected_output !== undefined ? sample(data) : null,
    tests.length ? testList(tests) : null,
    benchmarks.length ? benchmarkTable(benchmarks, device(run), run.timing) : null,
    profileView(data.profile),
    run.compiled?.warnings ? diagnostics("Compiler warnings", run.compiled.warnings, goTo) : null,
    kernelsView(data.isa ? data : (run.compiled ?? {}), goTo),
    output(run, data),
  ].filter(Boolean);
}

export function diagnosedLines(text) {
  const errors = (text ?? "")
    .split("\n")
    .map((line) => line.match(DIAGNOSTIC))
    .filter((match) => match?.[3] === "error");
  return errors.map((match) => Number(match[1]));
}

function device(run) {
  return run.device ?? { name: run.final?.data.device, title: run.final?.data.device_title ?? "this machine" };
}

// A verdict is about the answers; whether the time ranks stands beside it.
function isTimed(status, { timing }) {
  return GOOD.has(status) && Boolean(timing) && timing !== "UNSPECIFIED";
}

export function endTitle(status, data) {
  return statusTitle(status) + (isTimed(status, data) ? ` · ${timingWord(data)}` : "");
}

function verdict({ status, data }) {
  const isFiner = data.verdict && data.verdict !== status && !GOOD.has(status) && !TITLES[data.verdict];
  return element(
    "div",
    { className: `verdict ${statusKind(status)}` },
    element(
      "strong",
      {},
      verdictTitle(status, data.verdict) + (isFiner ? ` · ${data.verdict.replaceAll("_", " ").toLowerCase()}` : ""),
    ),
    isTimed(status, data)
      ? element("strong", { className: `timing ${timingKind(data)}` }, `Timing ${timingWord(data)}`)
      : null,
    data.message ? element("p", {}, ...inline(data.message)) : null,
  );
}

function figures(data, fallbacks) {
  const isShown = isMeasured(data);
  const entries = [
    [
      data.simulated ? "Simulated mean" : "Mean runtime",
      isShown && Number.isFinite(data.avg_runtime_ms) ? milliseconds(data.avg_runtime_ms) : null,
    ],
    ["Mean GFLOP/s", isShown && Number.isFinite(data.avg_gflops) ? figure(data.avg_gflops) : null],
    ["Tests passed", data.total_tests ? `${data.passed_tests ?? data.total_tests} / ${data.total_tests}` : null],
    ["Converged", data.converged === false && Number.isFinite(data.avg_runtime_ms) ? "no" : null],
    ["Exit code", Number.isFinite(data.return_code) ? String(data.return_code) : null],
    ["GPU", fallbacks.length ? data.machine_gpu_type : null],
    ["Cost", Number.isFinite(data.cost_usd) ? dollars(data.cost_usd) : null],
  ].filter(([, value]) => (value ?? null) !== null);
  return element(
    "dl",
    { className: "figures" },
    ...entries.map(([name, value]) =>
      element("div", { className: "figure" }, element("dt", {}, name), element("dd", {}, value)),
    ),
  );
}

function diagnostics(title, text, goTo) {
  const lines = text.split("\n").map((line) => {
    const match = line.match(DIAGNOSTIC);
    if (!match) return `${line}\n`;
    const jump = () => goTo(Number(match[1]), Number(match[2] ?? 1));
    return [element("button", { type: "button", className: "link-button", onclick: jump }, line), "\n"];
  });
  return element(
    "section",
    {},
    element("h3", {}, title),
    element("pre", { className: "log unwrapped", tabindex: 0 }, ...lines),
  );
}

function mismatches(info) {
  const columns = ["Index", "Output", "Expected", "Yours", "Difference"].map((heading, at) => ({
    title: heading,
    className: at > 1 ? "number mono" : "mono",
  }));
  const rows = Object.entries(info.sample_differences).map(([index, { expected, actual, diff, output }]) => [
    index.split(")")[0].concat(")"),
    output ?? "",
    finite(expected, exact),
    element("span", { className: "mismatch-actual" }, finite(actual, exact)),
    finite(diff, figure),
  ]);
  const counted = info.mismatch_count
    ? `${count(info.mismatch_count)} of ${count(info.element_count)} elements differ; `
    : "";
  return element(
    "section",
    {},
    element("h3", {}, "First mismatches"),
    element(
      "p",
      { className: "hint" },
      `${counted}largest difference ${figure(info.max_difference)}, mean ${figure(info.mean_difference)}.`,
    ),
    rows.length ? element("div", { className: "table-scroll" }, table("First mismatches", columns, rows)) : null,
  );
}

// JSON has no NaN and no infinities: the gateway writes null for them.
function finite(value, shown) {
  return value === null ? "NaN or inf" : shown(value);
}

function sample(data) {
  const column = (title, value) =>
    element(
      "div",
      {},
      element("h3", {}, title),
      element("pre", { className: "log unwrapped", tabindex: 0 }, readable(value)),
    );
  return element(
    "section",
    { className: "columns" },
    column("Input", data.input),
    column("Your output", data.output),
    column("Expected", data.expected_output),
  );
}

function readable(value) {
  if (typeof value === "string") return value;
  const entries = value?.multi ? value.values.map((item, at) => [value.names?.[at] ?? `output ${at + 1}`, item]) : null;
  const named = entries ?? (value && typeof value === "object" && !Array.isArray(value) ? Object.entries(value) : null);
  if (named) return named.map(([name, item]) => `${name} = ${rows(item)}`).join("\n");
  return rows(value);
}

function rows(value) {
  if (!Array.isArray(value)) return exact(value);
  const isGrid = value.some(Array.isArray);
  return isGrid ? `\n${value.map((row) => `  ${rows(row)}`).join("\n")}` : value.map(exact).join("  ");
}

function testList(tests) {
  const items = tests.map(({ name, status }) => {
    const passed = status === "PASSED";
    return element(
      "li",
      { className: passed ? "good" : "bad" },
      element("span", { className: "mark", "aria-hidden": "true" }, passed ? "✓" : "✗"),
      name,
      element("span", { className: "visually-hidden" }, passed ? "passed" : "failed"),
    );
  });
  return element("section", {}, element("h3", {}, "Tests"), element("ul", { className: "tests" }, ...items));
}

function output(run, data) {
  const lines = run.lines.length
    ? run.lines.map(({ stream, line }) => element("span", { className: stream }, `${line}\n`))
    : [data.stdout, data.stderr && element("span", { className: "stderr" }, data.stderr)].filter(Boolean);
  if (!lines.length) return null;
  return element(
    "section",
    {},
    element("h3", {}, "Output"),
    data.total_tests
      ? element("p", { className: "hint" }, "A case may be run more than once, and each run prints.")
      : null,
    element("pre", { className: "log", tabindex: 0 }, ...lines),
  );
}
