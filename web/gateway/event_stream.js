// Follows a submission's events over a connection that may break: each once, in order, to the last.

import { ApiError, authorized, checked, reached } from "./api.js";

const RETRY_MS = 1000;
const LONGEST_RETRY_MS = 8000;
// Heartbeats come every 10 s: after three missed ones the connection is dead.
const SILENCE_MS = 35_000;

export async function follow(path, onFrame, signal) {
  let lastId = "";
  let failures = 0;
  while (!signal.aborted) {
    try {
      for await (const frame of connection(path, lastId, signal)) {
        failures = 0;
        lastId = frame.id || lastId;
        onFrame(frame);
        if (frame.data.final) return;
      }
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof ApiError && error.status >= 400 && error.status < 500) throw error;
    }
    await pause(Math.min(RETRY_MS * 2 ** failures++, LONGEST_RETRY_MS), signal);
  }
}

// The frames in a text that arrives in pieces; `take` gives those that a piece completes.
export function frameReader() {
  let rest = "";
  return {
    take(piece) {
      const blocks = (rest + piece).split("\n\n");
      rest = blocks.pop();
      return blocks.map(frame).filter((read) => read !== null);
    },
  };
}

function frame(block) {
  const fields = {};
  for (const line of block.split("\n")) {
    const at = line.indexOf(":");
    if (at > 0) fields[line.slice(0, at)] = line.slice(at + 1).replace(/^ /, "");
  }
  if (!fields.data) return null;
  const data = JSON.parse(fields.data);
  return { id: fields.id ?? "", status: data.status ?? fields.event, data };
}

async function* connection(path, lastId, signal) {
  const silence = new AbortController();
  const response = await reached(path, {
    headers: authorized(lastId ? { "Last-Event-ID": lastId } : {}),
    signal: AbortSignal.any([signal, silence.signal]),
    cache: "no-store",
  });
  if (response.status === 204) {
    yield { id: lastId, status: "", data: { final: true } };
    return;
  }
  if (!response.ok) await checked(response);
  const reader = frameReader();
  const pieces = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let timer;
  try {
    for (;;) {
      timer = setTimeout(() => silence.abort(), SILENCE_MS);
      const { value, done } = await pieces.read();
      clearTimeout(timer);
      if (done) return;
      yield* reader.take(value);
    }
  } finally {
    clearTimeout(timer);
    silence.abort();
  }
}

function pause(ms, signal) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener(
      "abort",
      () => {
        clearTimeout(timer);
        resolve();
      },
      { once: true },
    );
  });
}
