// How calls are timed: the choice beside the mode, and the words for it.

import { byId } from "../page/dom.js";

const TIMED_MODES = new Set(["full", "benchmark"]);
const WORDS = {
  cold: "Cold times: the caches were swept before each call.",
  hot: "Hot times: the caches were as the new inputs left them.",
  "first-call": "First-call times: each call was the first of a fresh process.",
};

// Only what is measured can be timed in one way or another.
export function offerFor(mode) {
  byId("timing").hidden = !TIMED_MODES.has(mode);
}

export function read(mode) {
  const timing = byId("timing-select").value;
  return timing && TIMED_MODES.has(mode) ? { timing } : {};
}

export function show({ timing }) {
  byId("timing-select").value = timing ?? "";
}

export function timedHow({ mode, flushVerified }) {
  const doubt = flushVerified === false ? " That was not seen to empty them: these may be times of warm caches." : "";
  return WORDS[mode] ? WORDS[mode] + doubt : null;
}
