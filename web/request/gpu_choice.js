// Which GPU to ask for, and which others will do where none of it is free.

import { byId, element } from "../page/dom.js";

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
  const gpu = { gpu_type: byId("gpu-select").value };
  return fallbacks.length ? { ...gpu, fallback_gpu_types: fallbacks } : gpu;
}

export function show({ gpu_type: wanted, fallback_gpu_types: fallbacks }) {
  if ([...byId("gpu-select").options].some(({ value }) => value === wanted)) byId("gpu-select").value = wanted;
  for (const box of boxes()) box.checked = fallbacks.includes(box.value);
  withoutTheWanted();
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
