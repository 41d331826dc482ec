// A tab's part in the event stream that all tabs of a browser share: each event once, in order.

import { showFailure } from "../page/alert";
import { token } from "../page/store";
import type { Frame } from "../run/frames";
import { ApiError } from "./api_error";
import type { Schemas } from "./client";
import type { Failure, Heard, Hello, StreamHost } from "./stream_host";
import { type Arrival, eventId, SUBMISSIONS } from "./topics";

// Of the listeners of this tab.
const greetings = new Set<() => void>();
let hostOfTab: Promise<StreamHost> | null = null;

// Goes on with the token that the page has now.
export function goOnWithToken(): void {
  for (const greet of greetings) greet();
}

// Gives the frames of a run from its first to its last; `arrivedMs` is this browser's clock.
export function follow(
  submissionId: string,
  onFrame: (frame: Frame, arrivedMs: number) => void,
  signal: AbortSignal,
): Promise<void> {
  return listen(`submission:${submissionId}`, signal, ({ event, arrivedMs }) => {
    if ("refusal" in event) throw new ApiError(event.refusal.status, event.refusal.detail);
    const frame = "frame" in event ? event.frame : "status" in event ? event : null;
    if (!frame) return false;
    // Those of another account's run lack what is not shared; whoever shows such a field asks if it is there.
    onFrame(frame as Frame, arrivedMs);
    return "final" in frame;
  });
}

// Gives the user's submissions as they change; null: others may have changed before.
export function watch(onChange: (submission: Schemas["Submission"] | null) => void, signal: AbortSignal): void {
  listen(SUBMISSIONS, signal, ({ event }) => {
    if ("submission" in event) onChange(event.submission);
    return false;
  }).catch(showFailure);
}

// Until `onArrival` gives true or fails.
function listen(topic: string, signal: AbortSignal, onArrival: (arrival: Arrival) => boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    const listener = new Listener(topic, onArrival, (error) => (error ? reject(error) : resolve()));
    signal.addEventListener("abort", () => listener.end(), { once: true });
    listener.listen();
  });
}

class Listener {
  #port: MessagePort | null = null;
  #seenId = 0;

  constructor(
    readonly topic: string,
    readonly onArrival: (arrival: Arrival) => boolean,
    readonly onEnd: (error?: unknown) => void,
  ) {}

  listen(): void {
    greetings.add(this.#greet);
    addEventListener("pagehide", this.#leave);
    addEventListener("pageshow", this.#greet);
    if (typeof SharedWorker === "undefined") {
      void this.#listenAlone();
      return;
    }
    const worker = new SharedWorker(new URL("./stream_worker.ts", import.meta.url), { type: "module" });
    worker.onerror = () => void this.#listenAlone();
    this.#listenAt(worker.port);
  }

  end(error?: unknown): void {
    this.#leave();
    this.#port?.close();
    this.#port = null;
    greetings.delete(this.#greet);
    removeEventListener("pagehide", this.#leave);
    removeEventListener("pageshow", this.#greet);
    this.onEnd(error);
  }

  // Where there are no shared workers, each tab has a stream.
  async #listenAlone(): Promise<void> {
    hostOfTab ??= import("./stream_host").then(({ StreamHost }) => new StreamHost());
    const host = await hostOfTab;
    if (!greetings.has(this.#greet)) return;
    const { port1, port2 } = new MessageChannel();
    host.connect(port1);
    this.#listenAt(port2);
  }

  #listenAt(port: MessagePort): void {
    this.#port = port;
    port.onmessage = ({ data }: MessageEvent<Heard>) => this.#hear(data);
    this.#greet();
  }

  readonly #greet = () => {
    this.#port?.postMessage({ token: token(), topic: this.topic, seenId: this.#seenId } satisfies Hello);
  };

  readonly #leave = () => this.#port?.postMessage(null);

  #hear(heard: Heard): void {
    if (!greetings.has(this.#greet)) return;
    if (heard === null) this.#greet();
    else if ("failure" in heard) this.#fail(heard.failure);
    else this.#take(heard);
  }

  // What came before comes again if the stream began anew.
  #take(arrival: Arrival): void {
    const id = eventId(arrival.event);
    if (id && id <= this.#seenId) return;
    this.#seenId = Math.max(this.#seenId, id);
    try {
      if (this.onArrival(arrival)) this.end();
    } catch (error) {
      this.end(error);
    }
  }

  // A token that has ended may be followed by another.
  #fail({ status, message, fields }: Failure): void {
    const error = new ApiError(status, message, fields);
    if (status === 401) showFailure(error);
    else this.end(error);
  }
}
