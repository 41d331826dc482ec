// What a run's frames add up to; pure: the same frames give the same state.

export const STAGES = ["Queue", "Machine", "Compile", "Check", "Benchmark", "Done"];
const STAGES_OF_MODE = {
  check: ["Queue", "Machine", "Compile", "Check", "Done"],
  sample: ["Queue", "Machine", "Compile", "Done"],
  sandbox: ["Queue", "Machine", "Compile", "Run", "Done"],
};
const STAGE_OF_STATUS = {
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
export const GOOD = new Set(["ACCEPTED", "CHECKED", "BENCHMARKED", "PASSED", "SANDBOX_SUCCESS"]);
const MAX_LINES = 1000;

export function emptyRun(mode, fallbacks = [], profile = false) {
  const stages = STAGES_OF_MODE[mode] ?? STAGES;
  return {
    fallbacks,
    stages: (profile ? [...stages.slice(0, -1), "Profile", "Done"] : stages).map((name) => ({ name, state: "waiting", begin: null, end: null })),
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
    clockOffsetMs: Infinity,
  };
}

// `arrivedMs` is this browser's clock; the smallest difference to the server's instants is the clocks' offset.
export function afterFrame(run, { status, data }, arrivedMs) {
  const next = { ...run };
  if (Number.isFinite(data.timestamp)) next.clockOffsetMs = Math.min(run.clockOffsetMs, arrivedMs - data.timestamp);
  if (status === "heartbeat") return next;
  if (Number.isFinite(data.cost_usd)) next.costUsd = data.cost_usd;
  next.device = data.machine?.device_title
    ? { name: data.machine.device, title: data.machine.device_title }
    : run.device;
  next.timing = {
    mode: data.timing_mode ?? run.timing.mode,
    flushVerified: data.flush_verified ?? run.timing.flushVerified,
  };
  if (data.final) {
    next.final = { status, data };
    next.stages = endedStages(run.stages, GOOD.has(status), data.timestamp);
    return next;
  }
  const isBackInQueue = status === "IN_QUEUE" && run.stages[0].state === "done";
  next.stages = enteredStages(
    isBackInQueue ? emptyStages(run.stages) : run.stages,
    STAGE_OF_STATUS[status],
    data.timestamp,
  );
  return noted(next, status, data);
}

function noted(run, status, data) {
  switch (status) {
    case "IN_QUEUE":
      return {
        ...run,
        tests: [],
        benchmarks: [],
        lines: [],
        line: data.message || `Position ${data.position ?? "?"} in the queue`,
      };
    case "PROVISIONING":
      return { ...run, line: provisioningLine(data) };
    case "COMPILING":
      return {
        ...run,
        line: data.cached ? "Already compiled" : `Compiling with ${data.toolchain || "the device's compiler"}`,
      };
    case "COMPILED":
      return { ...run, compiled: data, line: "Compiled" };
    case "CHECKING":
      return { ...run, totalTests: data.total_tests, line: `Checking ${data.total_tests} tests` };
    case "TEST_RESULT": {
      const tests = [...run.tests, data.result];
      return {
        ...run,
        tests,
        totalTests: data.total_tests,
        line: `${tests.length} of ${data.total_tests} tests checked`,
      };
    }
    case "CHECKED":
      return { ...run, tests: data.test_results, line: `All ${data.total_tests} tests passed` };
    case "BENCHMARKING":
      return { ...run, line: data.message ?? "Measuring" };
    case "BENCHMARK_RESULT": {
      const benchmarks = [...run.benchmarks, data.result];
      return { ...run, benchmarks, line: `${benchmarks.length} of ${data.total_tests} cases measured` };
    }
    case "PROFILING":
      return { ...run, line: data.message ?? "Profiling the kernels" };
    case "SANDBOX_RUNNING":
      return { ...run, line: "The program runs" };
    case "SANDBOX_OUTPUT":
      return { ...run, lines: [...run.lines, { stream: data.stream, line: data.line }].slice(-MAX_LINES) };
    default:
      return run;
  }
}

function provisioningLine(data) {
  const start = { COLD_START: "Cold start", WARM_REUSE: "Warm machine" }[data.vm_state];
  return [start, data.message || data.stage, data.machine?.device_title].filter(Boolean).join(" · ");
}

function emptyStages(stages) {
  return stages.map(({ name }) => ({ name, state: "waiting", begin: null, end: null }));
}

function enteredStages(stages, name, instant) {
  const entered = stages.findIndex((stage) => stage.name === name);
  if (entered < 0 || stages[entered].state === "active") return stages;
  return stages.map((stage, at) => {
    if (at === entered) return { ...stage, state: "active", begin: instant };
    if (at > entered || stage.state === "done") return stage;
    return { ...stage, state: "done", end: stage.begin === null ? null : instant };
  });
}

function endedStages(stages, isGood, instant) {
  const active = stages.findIndex((stage) => stage.state === "active");
  return stages.map((stage, at) => {
    const end = at === active ? instant : stage.end;
    if (isGood) return { ...stage, end, state: "done" };
    if (at === active || (active < 0 && at === 0)) return { ...stage, end, state: "failed" };
    return stage;
  });
}
