// What a run's frames add up to; pure: the same frames give the same state.

import type { Schemas } from "../gateway/client";
import type { Benchmark, Compiled, Ended, Frame, OutputLine, TestResult } from "./frames";

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
  // Stopped: the run was cancelled in it, and nothing failed.
  state: "waiting" | "active" | "done" | "failed" | "stopped";
  // The server's clock, in milliseconds.
  begin: number | null;
  end: number | null;
}

export interface Run {
  submissionId: string;
  fallbacks: readonly string[];
  stages: Stage[];
  line: string;
  // The last news of the queue, and of the machine's start.
  queued: Schemas["InQueueEvent"] | null;
  starting: Schemas["ProvisioningEvent"] | null;
  device: { name: string; title: string } | null;
  costUsd: number | null;
  compiled: Compiled | null;
  tests: TestResult[];
  timing: { mode: string | null; flushVerified: boolean | null };
  benchmarks: Benchmark[];
  // The last of what a program printed, and how many lines were before them.
  lines: OutputLine[];
  linesBefore: number;
  final: Ended | null;
  // This browser's clock less the server's; infinite until a frame came.
  clockOffsetMs: number;
}

export function emptyRun(mode: string, fallbacks: readonly string[] = [], profile = false): Run {
  const stages = STAGES_OF_MODE[mode] ?? STAGES;
  return {
    submissionId: "",
    fallbacks,
    stages: waiting(profile ? [...stages.slice(0, -1), "Profile", "Done"] : stages),
    line: "",
    queued: null,
    starting: null,
    device: null,
    costUsd: null,
    compiled: null,
    tests: [],
    timing: { mode: null, flushVerified: null },
    benchmarks: [],
    lines: [],
    linesBefore: 0,
    final: null,
    clockOffsetMs: Number.POSITIVE_INFINITY,
  };
}

// `arrivedMs` is this browser's clock; the smallest difference to the server's instants is the clocks' offset.
export function afterFrame(run: Run, frame: Frame, arrivedMs: number, isGood: (status: string) => boolean): Run {
  const next = { ...run };
  const instant = "timestamp" in frame ? frame.timestamp : null;
  if (instant !== null) next.clockOffsetMs = Math.min(run.clockOffsetMs, arrivedMs - instant);
  if (frame.status === "heartbeat") return next;
  if ("submission_id" in frame) next.submissionId = frame.submission_id ?? "";
  if ("cost_usd" in frame) next.costUsd = frame.cost_usd;
  if ("machine" in frame && frame.machine)
    next.device = { name: frame.machine.device, title: frame.machine.device_title };
  next.timing = {
    mode: ("timing_mode" in frame ? frame.timing_mode : null) ?? run.timing.mode,
    flushVerified: ("flush_verified" in frame ? frame.flush_verified : null) ?? run.timing.flushVerified,
  };
  if ("final" in frame)
    return { ...next, final: frame, stages: endedStages(run.stages, frame.status, isGood(frame.status), instant) };
  const isBackInQueue = frame.status === "IN_QUEUE" && run.stages[0]?.state === "done";
  const before = isBackInQueue ? waiting(run.stages.map(({ name }) => name)) : run.stages;
  next.stages = enteredStages(before, STAGE_OF_STATUS[frame.status], instant);
  return { ...next, ...noted(run, frame) };
}

function noted(run: Run, frame: Exclude<Frame, Ended>): Partial<Run> {
  switch (frame.status) {
    case "IN_QUEUE":
      return {
        tests: [],
        benchmarks: [],
        lines: [],
        linesBefore: 0,
        queued: frame,
        line: frame.message || (frame.position ? `Position ${frame.position} in the queue` : "In the queue"),
      };
    case "PROVISIONING":
      return { starting: frame, line: provisioningLine(frame) };
    case "COMPILING":
      return {
        line: frame.cached ? "Already compiled" : `Compiling with ${frame.toolchain || "the device's compiler"}`,
      };
    case "COMPILED":
      return { compiled: frame, line: "Compiled" };
    case "CHECKING":
      return { line: `Checking ${frame.total_tests} tests` };
    case "TEST_RESULT": {
      const tests = [...run.tests, frame.result];
      return { tests, line: `${tests.length} of ${frame.total_tests} tests checked` };
    }
    case "CHECKED":
      return { tests: frame.test_results, line: `All ${frame.total_tests} tests passed` };
    case "BENCHMARKING":
      return { line: frame.message ?? "Measuring" };
    case "BENCHMARK_RESULT": {
      const benchmarks = [...run.benchmarks, frame.result];
      return { benchmarks, line: `${benchmarks.length} of ${frame.total_tests} cases measured` };
    }
    case "PROFILING":
      return { line: frame.message ?? "Profiling the kernels" };
    case "SANDBOX_RUNNING":
      return { line: "The program runs" };
    case "SANDBOX_OUTPUT": {
      const lines = [...run.lines, { stream: frame.stream, line: frame.line }];
      const over = Math.max(0, lines.length - MAX_LINES);
      return { lines: lines.slice(over), linesBefore: run.linesBefore + over };
    }
    default:
      return { line: unknownLine(frame) };
  }
}

// Of a kind that is newer than this page.
function unknownLine({ status, message }: { status: string; message?: string | null }): string {
  return message ? `${status}: ${message}` : status;
}

function provisioningLine({ vm_state: state, message, stage, machine }: Schemas["ProvisioningEvent"]): string {
  const start = state && { COLD_START: "Cold start", WARM_REUSE: "Warm machine" }[state];
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

function endedStages(stages: Stage[], status: string, isGood: boolean, instant: number | null): Stage[] {
  // Nothing is sent while a sample runs; that it failed is no fault of the compilation.
  if (status === "FAILED") {
    const done = endedStages(stages, "", true, instant);
    return done.map((stage, at) => (at === done.length - 1 ? { ...stage, state: "failed" } : stage));
  }
  const last = status === "CANCELLED" ? "stopped" : "failed";
  const active = stages.findIndex((stage) => stage.state === "active");
  return stages.map((stage, at) => {
    const end = at === active ? instant : stage.end;
    if (isGood) return { ...stage, end, state: "done" };
    if (at === active || (active < 0 && at === 0)) return { ...stage, end, state: last };
    return stage;
  });
}
