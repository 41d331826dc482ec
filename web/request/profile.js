// Whether the kernels are to be profiled after the verdict.

import { byId } from "../page/dom.js";

const PROFILED_MODES = new Set(["full", "benchmark", "check"]);

// A sample and a whole program have no profile.
export function offerFor(mode) {
  byId("profile").hidden = !PROFILED_MODES.has(mode);
}

export function read(mode) {
  return byId("profile-asked").checked && PROFILED_MODES.has(mode) ? { profile: true } : {};
}

export function show({ profile }) {
  byId("profile-asked").checked = Boolean(profile);
}
