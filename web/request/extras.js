// What may come along with a source: a launch plan, and a problem of one's own.

import { ApiError } from "../gateway/api.js";
import { byId } from "../page/dom.js";

export function read() {
  const fields = {};
  const plan = byId("launch-plan").value.trim();
  const definition = byId("problem-def").value;
  if (plan) fields.launch_plan = parsed(plan);
  if (definition.trim()) fields.problem_def = definition;
  return fields;
}

export function show({ launch_plan: plan, problem_def: definition, fallback_gpu_types: fallbacks, resources }) {
  byId("launch-plan").value = plan ? JSON.stringify(plan, null, 2) : "";
  byId("problem-def").value = definition ?? "";
  const isOtherSize = Boolean(resources && resources.gpus !== 1);
  byId("extras").open = Boolean(plan || definition || fallbacks.length || isOtherSize);
}

function parsed(plan) {
  try {
    return JSON.parse(plan);
  } catch (error) {
    throw new ApiError(0, `The launch plan is not JSON: ${error.message}`);
  }
}
