import { expect, test } from "vitest";
import type { Frame } from "./frames";
import { afterFrame, emptyRun, type Run } from "./run_state";
import { isGood } from "./verdicts";

// The fields of a frame that matter to a test.
interface Fields {
  status: string;
  timestamp?: number;
  [field: string]: unknown;
}

function after(frames: Fields[], run: Run = emptyRun("full")): Run {
  return frames.reduce(
    (before, frame) => afterFrame(before, frame as unknown as Frame, frame.timestamp ?? 0, isGood),
    run,
  );
}

function states(run: Run): Record<string, string> {
  return Object.fromEntries(run.stages.map(({ name, state }) => [name, state]));
}

test("a stage lasts from its first frame to the next stage's", () => {
  const run = after([
    { status: "IN_QUEUE", timestamp: 1000, position: 3 },
    { status: "COMPILING", timestamp: 3000 },
    { status: "COMPILED", timestamp: 4000 },
    { status: "CHECKING", timestamp: 5000, total_tests: 2 },
  ]);
  expect(run.stages.slice(0, 4)).toEqual([
    { name: "Queue", state: "done", begin: 1000, end: 3000 },
    { name: "Machine", state: "done", begin: null, end: null },
    { name: "Compile", state: "done", begin: 3000, end: 5000 },
    { name: "Check", state: "active", begin: 5000, end: null },
  ]);
});

test("a run that goes back into the queue begins anew", () => {
  const tested: Fields = { status: "TEST_RESULT", total_tests: 2, result: { name: "a", status: "PASSED", samples: 0 } };
  const run = after([{ status: "IN_QUEUE" }, { status: "CHECKING" }, tested, { status: "IN_QUEUE", message: "Again" }]);
  expect(run.tests).toEqual([]);
  expect(run.line).toBe("Again");
  expect(states(run)).toMatchObject({ Queue: "active", Check: "waiting" });
});

test("a failed run shows the stage that it ended in, and a good one has none left", () => {
  const begun: Fields[] = [{ status: "IN_QUEUE" }, { status: "CHECKING" }];
  const wrong = after([...begun, { status: "WRONG_ANSWER", final: true }]);
  expect(states(wrong)).toMatchObject({ Compile: "done", Check: "failed", Benchmark: "waiting" });
  const right = after([...begun, { status: "ACCEPTED", final: true }]);
  expect(new Set(Object.values(states(right)))).toEqual(new Set(["done"]));
});

test("a run that was cancelled shows where, and that nothing failed", () => {
  const run = after([{ status: "IN_QUEUE" }, { status: "CHECKING" }, { status: "CANCELLED", final: true }]);
  expect(states(run)).toMatchObject({ Compile: "done", Check: "stopped", Benchmark: "waiting" });
  expect(states(after([{ status: "CANCELLED", final: true }]))).toMatchObject({ Queue: "stopped", Machine: "waiting" });
});

test("of a long output the last lines are kept, and the others counted", () => {
  const frames = Array.from({ length: 1003 }, (_, at) => ({
    status: "SANDBOX_OUTPUT",
    stream: "stdout",
    line: `${at}`,
  }));
  const run = after(frames, emptyRun("sandbox"));
  expect([run.lines.length, run.lines[0]?.line, run.linesBefore]).toEqual([1000, "3", 3]);
});

test("a heartbeat changes nothing that is shown", () => {
  const run = after([{ status: "IN_QUEUE", position: 1 }]);
  const { clockOffsetMs: _, ...later } = after([{ status: "heartbeat", timestamp: 7 }], run);
  expect(run).toMatchObject(later);
});

test("a frame of a kind that is not known is shown as it is, and moves no stage", () => {
  const run = after([{ status: "IN_QUEUE", position: 1 }]);
  const later = after([{ status: "A_LATER_KIND", timestamp: 7, message: "Cooling down" }], run);
  expect(later.line).toBe("A_LATER_KIND: Cooling down");
  expect(states(later)).toEqual(states(run));
  expect(later.final).toBeNull();
});

test("the clocks' offset is the smallest delay that was seen", () => {
  let run = emptyRun("full");
  for (const [sent, arrived] of [
    [100, 190],
    [200, 250],
    [300, 400],
  ] as const) {
    run = afterFrame(run, { status: "heartbeat", timestamp: sent }, arrived, isGood);
  }
  expect(run.clockOffsetMs).toBe(50);
});

test("a profile has a stage of its own before the last", () => {
  const names = emptyRun("full", [], true).stages.map(({ name }) => name);
  expect(names.slice(-2)).toEqual(["Profile", "Done"]);
});

test("a sample that failed does not blame the compiler", () => {
  const frames = [{ status: "IN_QUEUE" }, { status: "COMPILING" }, { status: "FAILED", final: true }];
  const run = after(frames, emptyRun("sample"));
  expect(states(run)).toEqual({ Queue: "done", Machine: "done", Compile: "done", Done: "failed" });
});
