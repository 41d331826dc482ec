import { expect, test } from "vitest";
import { type Arrival, eventId, type TopicEvent, Topics } from "./topics";

const ONE = "submission:one";
const OTHER = "submission:other";

function frame(topic: string, id: number | null, fields: object = {}): TopicEvent {
  return { topic, event_id: id, frame: { status: "COMPILING", ...fields } } as unknown as TopicEvent;
}

function ids(arrivals: Arrival[]): number[] {
  return arrivals.map(({ event }) => eventId(event));
}

// A stream that one listener to a run has opened.
function opened(seenId = 0): Topics<string> {
  const topics = new Topics<string>();
  topics.add("a", ONE, seenId, 0);
  topics.request();
  return topics;
}

test("the first connection has the list and every run that is followed, each once, from the beginning", () => {
  const topics = new Topics<string>();
  topics.add("a", ONE, 0, 0);
  topics.add("b", OTHER, 0, 0);
  topics.add("c", ONE, 0, 0);
  expect(topics.isReplaced).toBe("soon");
  expect(topics.request()).toEqual({ topics: ["submissions", ONE, OTHER], lastId: "" });
  expect(topics.isReplaced).toBeNull();
});

test("a frame goes to those who follow its run, and a heartbeat to all", () => {
  const topics = opened();
  topics.add("list", "submissions", 0, 0);
  expect(topics.take("x", frame(ONE, 1), 5)).toEqual([["a", { event: frame(ONE, 1), arrivedMs: 5 }]]);
  const heartbeat = { status: "heartbeat", timestamp: 1 } as TopicEvent;
  expect(topics.take("", heartbeat, 6).map(([listener]) => listener)).toEqual(["a", "list"]);
});

test("another run joins in a connection that goes on from the last event", () => {
  const topics = opened();
  topics.take("x", frame(ONE, 1), 0);
  topics.add("b", OTHER, 0, 0);
  expect(topics.isReplaced).toBe("soon");
  expect(topics.request()).toEqual({ topics: ["submissions", ONE, OTHER], lastId: "x" });
});

test("who follows a run that another follows gets its frames from the first, or after the last that it has", () => {
  const topics = opened();
  for (const id of [1, 2, 3]) topics.take("x", frame(ONE, id), id);
  expect(ids(topics.add("b", ONE, 0, 9))).toEqual([1, 2, 3]);
  expect(ids(topics.add("c", ONE, 2, 9))).toEqual([3]);
  expect(topics.isReplaced).toBeNull();
});

test("who says again what it follows is sent nothing twice", () => {
  const topics = opened();
  topics.take("x", frame(ONE, 1), 0);
  expect(topics.add("a", ONE, 0, 0)).toEqual([]);
});

test("if too many frames came to keep them all, everything begins anew and nothing is heard out of order", () => {
  const topics = opened();
  for (let id = 1; id <= 2001; id++) topics.take(`x${id}`, frame(ONE, id), 0);
  expect(ids(topics.add("up to date", ONE, 2000, 0))).toEqual([2001]);
  expect(topics.isReplaced).toBeNull();
  expect(topics.add("late", ONE, 0, 0)).toEqual([]);
  expect(topics.isReplaced).toBe("soon");
  expect(topics.take("y", frame(ONE, 2002), 0)).toEqual([]);
  expect(topics.request().lastId).toBe("");
  expect(topics.take("z", frame(ONE, 1), 0).map(([listener]) => listener)).toEqual(["a", "up to date", "late"]);
});

test("a run that nobody follows any more leaves, unless it is over", () => {
  const topics = opened();
  topics.add("list", "submissions", 0, 0);
  topics.take("x", frame(ONE, 1), 0);
  topics.remove("a");
  expect(topics.isReplaced).toBe("soon");
  topics.add("a", ONE, 1, 0);
  topics.take("y", frame(ONE, 2, { final: true }), 0);
  topics.remove("a");
  expect(topics.isReplaced).toBeNull();
  expect(ids(topics.add("b", ONE, 0, 0))).toEqual([1, 2]);
});

test("a run that was left and is followed again misses nothing, whether or not an event came between", () => {
  for (const hasEventBetween of [false, true]) {
    const topics = opened();
    topics.add("list", "submissions", 0, 0);
    topics.take("with its place", frame(ONE, 1), 0);
    topics.remove("a");
    topics.request();
    if (hasEventBetween) topics.take("without", { topic: "submissions", submission: null }, 0);
    const kept = ids(topics.add("a", ONE, 0, 0));
    const { lastId } = topics.request();
    expect([kept, lastId]).toEqual(hasEventBetween ? [[], "without"] : [[1], "with its place"]);
  }
});

test("who hears of the list later reads it once more, if the list has begun", () => {
  const topics = opened();
  expect(topics.add("early", "submissions", 0, 0)).toEqual([]);
  topics.take("x", { topic: "submissions", submission: null }, 0);
  expect(topics.add("late", "submissions", 0, 7)).toEqual([
    { event: { topic: "submissions", submission: null }, arrivedMs: 7 },
  ]);
});

test("a refused run is over, and a refused list begins anew a little later", () => {
  const topics = opened();
  const refusal = { status: 404, title: "Not Found", detail: "There is no such submission." };
  expect(topics.take("x", { topic: ONE, refusal }, 0)).toHaveLength(1);
  expect(topics.isReplaced).toBeNull();
  expect(topics.listeners).toEqual([]);
  topics.add("later", ONE, 0, 0);
  expect(topics.isReplaced).toBe("soon");
  topics.request();
  topics.take("x", { topic: "submissions", refusal }, 0);
  expect(topics.isReplaced).toBe("later");
  expect(topics.request().lastId).toBe("");
});

test("a run whose stream broke at the gateway is asked for again a little later, from its last event", () => {
  const topics = opened();
  topics.take("x", frame(ONE, 1), 0);
  expect(topics.take("x", frame(ONE, null, { status: "ERROR" }), 0)).toHaveLength(1);
  expect(topics.isReplaced).toBe("later");
  expect(topics.request().lastId).toBe("x");
  expect(ids(topics.add("b", ONE, 0, 0))).toEqual([1]);
});

test("there are never more topics than the gateway takes", () => {
  const topics = new Topics<number>();
  for (let number = 0; number < 100; number++) topics.add(number, `submission:${number}`, 0, 0);
  expect(topics.request().topics).toHaveLength(64);
  expect(topics.isReplaced).toBeNull();
});
