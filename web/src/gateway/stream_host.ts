// Holds one event stream for all listeners with the same token, over connections that may break.

import { EventSourceParserStream } from "eventsource-parser/stream";
import { ApiError, checked, type FieldProblem } from "./api_error";
import { type Arrival, type Request as Asked, type TopicEvent, Topics } from "./topics";

// A listener's port says this at first, after each ping and with another token; it says null when it goes.
export interface Hello {
  token: string;
  topic: string;
  seenId: number;
}

// The stream ends with it, until somebody says hello again.
export interface Failure {
  status: number;
  message: string;
  fields: FieldProblem[];
}

// Of pings.
export type Heard = Arrival | { failure: Failure } | null;

const RETRY_MS = 1000;
const LONGEST_RETRY_MS = 8000;
// Heartbeats come every 10 s: after three missed ones the connection is dead.
const SILENCE_MS = 35_000;
const SOON_MS = 50;
const LATER_MS = 5000;
// The gateway notices the end of a connection a moment later. One that is replaced sooner would be a third there.
const LEAST_MS = 400;
// A tab that crashed says no goodbye. Pings are counted, because clocks jump when a machine wakes up.
const PING_MS = 15_000;
const MOST_UNANSWERED = 3;

interface Place {
  stream: TopicStream;
  unanswered: number;
}

export class StreamHost {
  readonly #streams = new Map<string, TopicStream>();
  readonly #places = new Map<MessagePort, Place>();

  constructor() {
    setInterval(() => this.#ping(), PING_MS);
  }

  connect(port: MessagePort): void {
    port.onmessage = ({ data }: MessageEvent<Hello | null>) => {
      if (data) this.#greet(port, data);
      else this.#leave(port);
    };
  }

  #greet(port: MessagePort, { token, topic, seenId }: Hello): void {
    const stream = this.#streams.get(token) ?? new TopicStream(token, () => this.#end(token));
    this.#streams.set(token, stream);
    if (this.#places.get(port)?.stream !== stream) this.#leave(port);
    this.#places.set(port, { stream, unanswered: 0 });
    stream.add(port, topic, seenId);
  }

  #leave(port: MessagePort): void {
    this.#places.get(port)?.stream.remove(port);
    this.#places.delete(port);
  }

  #end(token: string): void {
    const stream = this.#streams.get(token);
    this.#streams.delete(token);
    for (const [port, place] of this.#places) if (place.stream === stream) this.#places.delete(port);
  }

  #ping(): void {
    for (const [port, place] of this.#places) {
      if (place.unanswered++ < MOST_UNANSWERED) port.postMessage(null);
      else this.#leave(port);
    }
  }
}

class TopicStream {
  readonly #topics = new Topics<MessagePort>();
  #connection = new AbortController();
  #beganAt = 0;
  #planned: "soon" | "later" | null = null;
  #plan: ReturnType<typeof setTimeout> | undefined;

  constructor(
    readonly token: string,
    readonly onEnd: () => void,
  ) {
    // Tabs that open together are in one connection.
    setTimeout(() => void this.#run(), SOON_MS);
  }

  add(port: MessagePort, topic: string, seenId: number): void {
    for (const arrival of this.#topics.add(port, topic, seenId, Date.now())) port.postMessage(arrival);
    this.#replace();
  }

  remove(port: MessagePort): void {
    this.#topics.remove(port);
    this.#replace();
  }

  // Changes that come together make one new connection.
  #replace(): void {
    const planned = this.#topics.listeners.length ? this.#topics.isReplaced : "soon";
    if (planned === this.#planned) return;
    clearTimeout(this.#plan);
    this.#planned = planned;
    const wait = Math.max(planned === "soon" ? SOON_MS : LATER_MS, this.#beganAt + LEAST_MS - Date.now());
    if (planned) this.#plan = setTimeout(() => this.#connection.abort(), Math.min(wait, LATER_MS));
  }

  async #run(): Promise<void> {
    let failures = 0;
    while (this.#topics.listeners.length) {
      this.#connection = new AbortController();
      this.#beganAt = Date.now();
      const { signal } = this.#connection;
      const asked = this.#topics.request();
      this.#replace();
      try {
        for await (const { id, event } of events(this.token, asked, signal)) {
          failures = 0;
          for (const [port, arrival] of this.#topics.take(id, event, Date.now())) port.postMessage(arrival);
          this.#replace();
        }
      } catch (error) {
        if (error instanceof ApiError && this.#isFinal(error, asked)) break;
      }
      await pause(Math.min(RETRY_MS * 2 ** failures++, LONGEST_RETRY_MS), signal);
    }
    this.onEnd();
  }

  #isFinal({ status, message, fields }: ApiError, { lastId }: Asked): boolean {
    // The id is of no stream that this gateway knows.
    if (status === 422 && lastId) this.#topics.beginAnew();
    else if (status >= 400 && status < 500 && status !== 429) {
      for (const port of this.#topics.listeners) port.postMessage({ failure: { status, message, fields } });
      return true;
    }
    return false;
  }
}

// Ends when the gateway ends it, and fails if it is silent.
async function* events(token: string, { topics, lastId }: Asked, signal: AbortSignal) {
  const silence = new AbortController();
  const listen = () => setTimeout(() => silence.abort(), SILENCE_MS);
  let timer = listen();
  try {
    const parsed = await opened(token, topics, lastId, AbortSignal.any([signal, silence.signal]));
    for (;;) {
      const { value: event, done } = await parsed.read();
      if (done) return;
      clearTimeout(timer);
      timer = listen();
      yield { id: event.id ?? "", event: JSON.parse(event.data) as TopicEvent };
    }
  } finally {
    clearTimeout(timer);
    silence.abort();
  }
}

async function opened(token: string, topics: string[], lastId: string, signal: AbortSignal) {
  const headers = { Authorization: `Bearer ${token}`, ...(lastId ? { "Last-Event-ID": lastId } : {}) };
  const query = new URLSearchParams(topics.map((topic) => ["topic", topic]));
  const { body } = await checked(await fetch(`/api/v1/events?${query}`, { headers, signal, cache: "no-store" }));
  if (!body) throw new ApiError(0, "The gateway sent no stream.");
  return body
    .pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array<ArrayBuffer>>)
    .pipeThrough(new EventSourceParserStream())
    .getReader();
}

// Ends at once if it is aborted.
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const ended = () => {
      clearTimeout(timer);
      resolve();
    };
    const timer = setTimeout(ended, ms);
    if (signal.aborted) ended();
    signal.addEventListener("abort", ended, { once: true });
  });
}
