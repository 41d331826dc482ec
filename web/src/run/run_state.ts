// What a run's frames add up to; pure: the same frames give the same state.

import type { Benchmark, Compiled, Frame, OutputLine, TestResult } from "./frames";

const STAGES = ["Queue", "Machine", "Compile", "Check", "Benchmark", "Done"];
const STAGES_OF_MODE: Record<string, string[]> = {
  check: ["Queue", "Machine", "Compile", "Check", "Done"],
  sample: ["Queue", "Machine", "Compile", "Done"],
  sandbox: ["Queue", "Machine", "Compile", "Run", "Done"],
};
const STAGE_OF_STATUS: Record<string, string> = {
  IN_QUEUE: "Queue",
  PROVISIONING: "Machine",
  COMPILING: "Compile",
  COMPILED: "Compile",
  CHECKING: "Check",
  TEST_RESULT: "Check",
  CHECKED: "Check",
  BENCHMARKING: "Benchmark",
  BENCHMARK_RESULT: "Benchmark",
  BENCHMARKED: "Benchmark",
  PROFILING: "Profile",
  SANDBOX_RUNNING: "Run",
  SANDBOX_OUTPUT: "Run",
};
const MAX_LINES = 1000;

export interface Stage {
  name: string;
  state: "waiting" | "active" | "done" | "failed";
  // The server's clock, in milliseconds.
  begin: number | null;
  end: number | null;
}

export interface Run {
  fallbacks: readonly string[];
  stages: Stage[];
  line: string;
  device: { name: string | undefined; title: string } | null;
  costUsd: number | null;
  compiled: Compiled | null;
  tests: TestResult[];
  totalTests: number | null;
  timing: { mode: string | null; flushVerified: boolean | null };
  benchmarks: Benchmark[];
  lines: OutputLine[];
  final: Frame | null;
  // This browser's clock less the server's; infinite until a frame came.
  clockOffsetMs: number;
}

export function emptyRun(mode: string, fallbacks: readonly string[] = [], profile = false): Run {
  const stages = STAGES_OF_MODE[mode] ?? STAGES;
  return {
    fallbacks,
    stages: waiting(profile ? [...stages.slice(0, -1), "Profile", "Done"] : stages),
    line: "",
    device: null,
    costUsd: null,
    compiled: null,
    tests: [],
    totalTests: null,
    timing: { mode: null, flushVerified: null },
    benchmarks: [],
    lines: [],
    final: null,
    clockOffsetMs: Number.POSITIVE_INFINITY,
  };
}

// `arrivedMs` is this browser's clock; the smallest difference to the server's instants is the clocks' offset.
export function afterFrame(run: Run, frame: Frame, arrivedMs: number, isGood: (status: string) => boolean): Run {
  const { status, timestamp } = frame;
  const next = { ...run };
  if (timestamp !== undefined) next.clockOffsetMs = Math.min(run.clockOffsetMs, arrivedMs - timestamp);
  if (status === "heartbeat") return next;
  next.costUsd = frame.cost_usd ?? run.costUsd;
  const { device_title: title, device } = frame.machine ?? {};
  if (title) next.device = { name: device, title };
  next.timing = {
    mode: frame.timing_mode ?? run.timing.mode,
    flushVerified: frame.flush_verified ?? run.timing.flushVerified,
  };
  const instant = timestamp ?? null;
  if (frame.final) return { ...next, final: frame, stages: endedStages(run.stages, isGood(status), instant) };
  const isBackInQueue = status === "IN_QUEUE" && run.stages[0]?.state === "done";
  const before = isBackInQueue ? waiting(run.stages.map(({ name }) => name)) : run.stages;
  next.stages = enteredStages(before, STAGE_OF_STATUS[status], instant);
  return { ...next, ...noted(run, frame) };
}

function noted(run: Run, frame: Frame): Partial<Run> {
  const { status, message, total_tests: total = null } = frame;
  switch (status) {
    case "IN_QUEUE":
      return {
        tests: [],
        benchmarks: [],
        lines: [],
        line: message || `Position ${frame.position ?? "?"} in the queue`,
      };
    case "PROVISIONING":
      return { line: provisioningLine(frame) };
    case "COMPILING":
      return {
        line: frame.cached ? "Already compiled" : `Compiling with ${frame.toolchain || "the device's compiler"}`,
      };
    case "COMPILED":
      return { compiled: frame, line: "Compiled" };
    case "CHECKING":
      return { totalTests: total, line: `Checking ${total} tests` };
    case "TEST_RESULT": {
      const tests = frame.result ? [...run.tests, frame.result] : run.tests;
      return { tests, totalTests: total, line: `${tests.length} of ${total} tests checked` };
    }
    case "CHECKED":
      return { tests: frame.test_results ?? [], line: `All ${total} tests passed` };
    case "BENCHMARKING":
      return { line: message ?? "Measuring" };
    case "BENCHMARK_RESULT": {
      const benchmarks = frame.result ? [...run.benchmarks, frame.result] : run.benchmarks;
      return { benchmarks, line: `${benchmarks.length} of ${total} cases measured` };
    }
    case "PROFILING":
      return { line: message ?? "Profiling the kernels" };
    case "SANDBOX_RUNNING":
      return { line: "The program runs" };
    case "SANDBOX_OUTPUT":
      return { lines: [...run.lines, { stream: frame.stream ?? "", line: frame.line ?? "" }].slice(-MAX_LINES) };
    default:
      return {};
  }
}

function provisioningLine({ vm_state: state = "", message, stage, machine }: Frame): string {
  const start = { COLD_START: "Cold start", WARM_REUSE: "Warm machine" }[state];
  return [start, message || stage, machine?.device_title].filter(Boolean).join(" · ");
}

function waiting(names: string[]): Stage[] {
  return names.map((name) => ({ name, state: "waiting", begin: null, end: null }));
}

function enteredStages(stages: Stage[], name: string | undefined, instant: number | null): Stage[] {
  const entered = stages.findIndex((stage) => stage.name === name);
  if (entered < 0 || stages[entered]?.state === "active") return stages;
  return stages.map((stage, at) => {
    if (at === entered) return { ...stage, state: "active", begin: instant };
    if (at > entered || stage.state === "done") return stage;
    return { ...stage, state: "done", end: stage.begin === null ? null : instant };
  });
}

function endedStages(stages: Stage[], isGood: boolean, instant: number | null): Stage[] {
  const active = stages.findIndex((stage) => stage.state === "active");
  return stages.map((stage, at) => {
    const end = at === active ? instant : stage.end;
    if (isGood) return { ...stage, end, state: "done" };
    if (at === active || (active < 0 && at === 0)) return { ...stage, end, state: "failed" };
    return stage;
  });
}
