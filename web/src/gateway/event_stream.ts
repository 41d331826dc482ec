// Follows a submission's events over a connection that may break: each once, in order, to the last.

import { EventSourceParserStream } from "eventsource-parser/stream";
import { token } from "../page/store";
import type { Frame } from "../run/frames";
import { ApiError } from "./api_error";
import { checked, reached } from "./client";

const RETRY_MS = 1000;
const LONGEST_RETRY_MS = 8000;
// Heartbeats come every 10 s: after three missed ones the connection is dead.
const SILENCE_MS = 35_000;

export async function follow(path: string, onFrame: (frame: Frame) => void, signal: AbortSignal): Promise<void> {
  let lastId = "";
  let failures = 0;
  while (!signal.aborted) {
    const silence = new AbortController();
    try {
      const response = await opened(path, lastId, AbortSignal.any([signal, silence.signal]));
      // There is nothing after the last event.
      if (response.status === 204 || !response.body) return;
      for await (const { id, frame } of frames(response.body, silence)) {
        failures = 0;
        lastId = id || lastId;
        onFrame(frame);
        if ("final" in frame) return;
      }
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof ApiError && error.status >= 400 && error.status < 500) throw error;
    }
    await pause(Math.min(RETRY_MS * 2 ** failures++, LONGEST_RETRY_MS), signal);
  }
}

async function opened(path: string, lastId: string, signal: AbortSignal): Promise<Response> {
  const headers = { Authorization: `Bearer ${token()}`, ...(lastId ? { "Last-Event-ID": lastId } : {}) };
  return checked(await reached(new Request(path, { headers, signal, cache: "no-store" })));
}

async function* frames(body: ReadableStream<Uint8Array<ArrayBuffer>>, silence: AbortController) {
  const events = body
    .pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array<ArrayBuffer>>)
    .pipeThrough(new EventSourceParserStream())
    .getReader();
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    for (;;) {
      timer = setTimeout(() => silence.abort(), SILENCE_MS);
      const { value: event, done } = await events.read();
      clearTimeout(timer);
      if (done) return;
      yield { id: event.id ?? "", frame: JSON.parse(event.data) as Frame };
    }
  } finally {
    clearTimeout(timer);
    silence.abort();
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const ended = () => {
      clearTimeout(timer);
      resolve();
    };
    const timer = setTimeout(ended, ms);
    signal.addEventListener("abort", ended, { once: true });
  });
}
