import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type Heard, type Hello, StreamHost } from "./stream_host";

// What was asked for, in order, and whether it is still open.
let asked: { topics: string[]; token: string; isOpen: boolean }[];
let answer: () => Response | null;

beforeEach(() => {
  vi.useFakeTimers();
  asked = [];
  // A gateway that says nothing.
  answer = () => null;
  vi.stubGlobal(
    "fetch",
    (path: string, { signal, headers }: { signal: AbortSignal; headers: Record<string, string> }) => {
      const topics = new URLSearchParams(path.split("?")[1]).getAll("topic");
      const one = { topics, token: headers.Authorization ?? "", isOpen: true };
      asked.push(one);
      const given = answer();
      if (given) return Promise.resolve(given);
      return new Promise((_, reject) => {
        signal.addEventListener("abort", () => {
          one.isOpen = false;
          reject(new Error("aborted"));
        });
      });
    },
  );
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

function tab(host: StreamHost, hello: Hello, answersPings = true) {
  const heard: Heard[] = [];
  const port = {
    onmessage: null as ((event: { data: Hello | null }) => void) | null,
    postMessage(message: Heard) {
      heard.push(message);
      if (message === null && answersPings) this.onmessage?.({ data: hello });
    },
  };
  host.connect(port as unknown as MessagePort);
  const say = (said: Hello | null) => port.onmessage?.({ data: said });
  say(hello);
  return { heard, say };
}

const hello = (topic: string, token = "t"): Hello => ({ token, topic, seenId: 0 });

test("a tab that crashed keeps no topic, and one that answers keeps its own", async () => {
  const host = new StreamHost();
  tab(host, hello("submission:a"));
  tab(host, hello("submission:b"), false);
  await vi.advanceTimersByTimeAsync(1000);
  expect(asked.map(({ topics }) => topics)).toEqual([["submissions", "submission:a", "submission:b"]]);
  await vi.advanceTimersByTimeAsync(90_000);
  expect(asked.at(-1)?.topics).toEqual(["submissions", "submission:a"]);
  expect(asked.filter(({ isOpen }) => isOpen).length).toBeLessThanOrEqual(1);
});

test("a frozen tab that answers late is heard again", async () => {
  const host = new StreamHost();
  const frozen = tab(host, hello("submission:a"), false);
  await vi.advanceTimersByTimeAsync(120_000);
  const before = asked.length;
  expect(asked.some(({ isOpen }) => isOpen)).toBe(false);
  frozen.say(hello("submission:a"));
  await vi.advanceTimersByTimeAsync(100);
  expect(asked.length).toBe(before + 1);
});

test("a connection that is silent for 35 s is replaced", async () => {
  const host = new StreamHost();
  tab(host, hello("submissions"));
  await vi.advanceTimersByTimeAsync(34_900);
  expect(asked).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(1500);
  expect(asked.map(({ isOpen }) => isOpen)).toEqual([false, true]);
});

test("a token that was revoked is said once and not tried again, and another token has a stream of its own", async () => {
  const host = new StreamHost();
  answer = () => new Response("{}", { status: 401, headers: { "content-type": "application/json" } });
  const one = tab(host, hello("submissions"));
  await vi.advanceTimersByTimeAsync(120_000);
  expect(one.heard).toEqual([{ failure: { status: 401, message: "HTTP 401", fields: [] } }]);
  expect(asked).toHaveLength(1);
  answer = () => null;
  one.say(hello("submissions", "other"));
  await vi.advanceTimersByTimeAsync(100);
  expect(asked.map(({ token }) => token)).toEqual(["Bearer t", "Bearer other"]);
});

test("a gateway that is away or has too much to do is asked again after longer and longer pauses", async () => {
  const host = new StreamHost();
  answer = () => new Response("", { status: asked.length % 2 ? 503 : 429 });
  tab(host, hello("submissions"));
  await vi.advanceTimersByTimeAsync(100);
  const counts = [];
  for (const ms of [1000, 2000, 4000, 8000, 8000]) {
    await vi.advanceTimersByTimeAsync(ms);
    counts.push(asked.length);
  }
  expect(counts).toEqual([2, 3, 4, 5, 6]);
});
