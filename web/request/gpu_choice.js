// Which GPU to ask for, how much of it, and which others will do where none of it is free.

import { byId, element } from "../page/dom.js";

// Eighths.
const WHOLE_GPU = 8;

// What may be asked for, as the gateway lists it; the first is the default.
export function offer(gpuTypes) {
  const types = gpuTypes.map(({ gpu_type: type }) => type);
  byId("gpu-select").replaceChildren(...types.map((type) => element("option", { value: type }, type)));
  byId("gpu-select").onchange = withoutTheWanted;
  for (const label of byId("fallback-gpus").querySelectorAll("label")) label.remove();
  byId("fallback-gpus").append(
    ...types.map((type) => element("label", {}, element("input", { type: "checkbox", value: type }), type)),
  );
  withoutTheWanted();
}

export function read() {
  const fallbacks = boxes()
    .filter(({ checked }) => checked)
    .map(({ value }) => value);
  const gpu = { gpu_type: byId("gpu-select").value, ...size() };
  return fallbacks.length ? { ...gpu, fallback_gpu_types: fallbacks } : gpu;
}

// The question of `/api/v1/quote` for what is asked for.
export function quoteQuery() {
  const { gpu_type: wanted, fallback_gpu_types: fallbacks = [] } = read();
  const query = [wanted, ...fallbacks].map((type) => ["gpu_type", type]);
  query.push(["eighths", Math.min(eighths(), WHOLE_GPU)], ["gpus", Math.max(eighths() / WHOLE_GPU, 1)]);
  return new URLSearchParams(query);
}

export function show({ gpu_type: wanted, fallback_gpu_types: fallbacks, resources }) {
  const { gpus, fraction } = resources ?? {};
  byId("gpu-size").value = String((gpus ?? fraction ?? 1) * WHOLE_GPU);
  if ([...byId("gpu-select").options].some(({ value }) => value === wanted)) byId("gpu-select").value = wanted;
  for (const box of boxes()) box.checked = fallbacks.includes(box.value);
  withoutTheWanted();
}

function eighths() {
  return Number(byId("gpu-size").value);
}

// Nothing for one whole GPU, which is what a submission gets that does not say.
function size() {
  if (eighths() === WHOLE_GPU) return {};
  const amount = eighths() / WHOLE_GPU;
  return { resources: amount < 1 ? { fraction: amount } : { gpus: amount } };
}

// What is asked for anyway is no fallback of its own.
function withoutTheWanted() {
  for (const box of boxes()) {
    box.disabled = box.value === byId("gpu-select").value;
    if (box.disabled) box.checked = false;
  }
}

function boxes() {
  return [...byId("fallback-gpus").querySelectorAll("input")];
}
