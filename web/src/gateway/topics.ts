// Who hears of which topics, what each has heard, and from where the next connection goes on; pure, without I/O.
//
// The id of an event has the place in every topic of its connection, and is opaque. So a listener that comes later gets
// what was heard of its topic before from here; if too much was, all topics begin anew, and who had it already skips it.

import type { components } from "./types";

export type TopicEvent = components["schemas"]["TopicEvent"];

export const SUBMISSIONS = "submissions";
// The gateway takes no more in one stream.
const MOST_TOPICS = 64;
const MOST_KEPT = 2000;

export interface Arrival {
  event: TopicEvent;
  // This browser's clock.
  arrivedMs: number;
}

interface Topic {
  kept: Arrival[];
  // The id of the last event that is kept no more.
  droppedId: number;
  hasBegun: boolean;
  isOver: boolean;
}

export interface Request {
  topics: string[];
  lastId: string;
}

export class Topics<Listener> {
  readonly #listeners = new Map<Listener, string>();
  // Those that the last id has, or will have with the next event.
  readonly #topics = new Map<string, Topic>();
  #connected: string[] = [];
  #lastId = "";
  #beginsAnew = false;
  #isBroken = false;

  get listeners(): Listener[] {
    return [...this.#listeners.keys()];
  }

  // Gives what the listener has missed; `seenId` is the last event that it has.
  add(listener: Listener, name: string, seenId: number, nowMs: number): Arrival[] {
    if (this.#listeners.get(listener) === name) return [];
    this.#listeners.set(listener, name);
    const topic = this.#topics.get(name);
    if (!topic) return [];
    if (name === SUBMISSIONS) {
      return topic.hasBegun ? [{ event: { topic: name, submission: null }, arrivedMs: nowMs }] : [];
    }
    if (seenId < topic.droppedId) this.beginAnew();
    return this.#beginsAnew ? [] : topic.kept.filter(({ event }) => eventId(event) > seenId);
  }

  remove(listener: Listener): void {
    this.#listeners.delete(listener);
  }

  // The next connection has every topic from its first event.
  beginAnew(): void {
    this.#beginsAnew = true;
  }

  // When the connection has to be replaced: at once if it has other topics than listeners want, and a little later if
  // the gateway could not go on with one.
  get isReplaced(): "soon" | "later" | null {
    const wanted = this.#wanted();
    const isNew = wanted.some((name) => !this.#connected.includes(name));
    const isLeft = this.#connected.some((name) => !wanted.includes(name) && !this.#topics.get(name)?.isOver);
    if (isNew || isLeft) return "soon";
    if (this.#isBroken) return "later";
    return this.#beginsAnew ? "soon" : null;
  }

  // What the next connection asks for.
  request(): Request {
    if (this.#beginsAnew) {
      this.#topics.clear();
      this.#lastId = "";
    }
    this.#beginsAnew = false;
    this.#isBroken = false;
    this.#connected = this.#wanted();
    for (const name of this.#connected) {
      if (!this.#topics.has(name)) {
        this.#topics.set(name, { kept: [], droppedId: 0, hasBegun: false, isOver: false });
      }
    }
    return { topics: this.#connected, lastId: this.#lastId };
  }

  // An event of the connection, and who is to hear it.
  take(id: string, event: TopicEvent, arrivedMs: number): [Listener, Arrival][] {
    const arrival = { event, arrivedMs };
    if (!("topic" in event)) return this.listeners.map((listener) => [listener, arrival]);
    const topic = this.#topics.get(event.topic);
    // It comes again.
    if (this.#beginsAnew || !topic) return [];
    if (id) this.#lastId = id;
    this.#forgetLeft();
    const heard = [...this.#listeners].filter(([, name]) => name === event.topic).map(([listener]) => listener);
    this.#note(topic, arrival);
    if (topic.isOver) for (const listener of heard) this.remove(listener);
    return heard.map((listener) => [listener, arrival]);
  }

  #note(topic: Topic, arrival: Arrival): void {
    const { event } = arrival;
    topic.hasBegun = true;
    if ("refusal" in event) this.#noteRefusal(topic, event.topic);
    if (!("frame" in event)) return;
    if ("final" in event.frame) topic.isOver = true;
    // The gateway could not go on with it.
    if (event.event_id === null) this.#isBroken = true;
    else topic.kept.push(arrival);
    if (topic.kept.length > MOST_KEPT) topic.droppedId = eventId(topic.kept.shift()?.event);
  }

  // Who follows a refused run later asks for it anew.
  #noteRefusal(topic: Topic, name: string): void {
    if (name === SUBMISSIONS) {
      this.beginAnew();
      this.#isBroken = true;
      return;
    }
    topic.isOver = true;
    this.#topics.delete(name);
    this.#connected = this.#connected.filter((other) => other !== name);
  }

  // An event's id has the places of its connection's topics alone.
  #forgetLeft(): void {
    for (const name of this.#topics.keys()) {
      if (!this.#connected.includes(name)) this.#topics.delete(name);
    }
  }

  #wanted(): string[] {
    return [...new Set([SUBMISSIONS, ...this.#listeners.values()])].slice(0, MOST_TOPICS);
  }
}

export function eventId(event: TopicEvent | undefined): number {
  return (event && "event_id" in event && event.event_id) || 0;
}
