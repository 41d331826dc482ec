// What is asked for beside the source, as the page's fields hold it, and as the gateway takes and gives it.

import { ApiError } from "../gateway/api_error";
import type { Schemas } from "../gateway/client";

export type Mode = Schemas["Mode"];
export type Timing = Schemas["TimingMode"];

// Eighths.
const WHOLE_GPU = 8;
const TIMED: readonly Mode[] = ["full", "benchmark"];
// A sample and a whole program have no profile.
const PROFILED: readonly Mode[] = ["full", "benchmark", "check"];

export interface Form {
  mode: Mode;
  timing: Timing | "";
  profile: boolean;
  gpuType: string;
  eighths: number;
  fallbacks: string[];
  // As it was typed.
  launchPlan: string;
  definition: string;
}

export const EMPTY_FORM: Form = {
  mode: "full",
  timing: "",
  profile: false,
  gpuType: "",
  eighths: WHOLE_GPU,
  fallbacks: [],
  launchPlan: "",
  definition: "",
};

// Of a problem's kernel; a whole program has the last one, and no other.
export const KERNEL_MODES: readonly Mode[] = ["full", "check", "benchmark", "sample"];
export const MODES: readonly Mode[] = [...KERNEL_MODES, "sandbox"];
const TIMINGS: readonly (Timing | "")[] = ["", "cold", "hot", "first-call"];

// What a tab remembers, and the part that a new tab begins with: a plan and a definition belong to one problem.
export function toRemember(form: Form): [whole: string, lasting: string] {
  return [JSON.stringify(form), JSON.stringify({ ...form, launchPlan: "", definition: "" })];
}

// What was remembered may be of another version of this page.
export function rememberedForm(text: string | null): Form {
  let kept: Partial<Record<keyof Form, unknown>>;
  try {
    kept = { ...JSON.parse(text ?? "{}") };
  } catch {
    return EMPTY_FORM;
  }
  const { mode, timing, eighths, fallbacks } = kept;
  return {
    mode: KERNEL_MODES.find((one) => one === mode) ?? EMPTY_FORM.mode,
    timing: TIMINGS.find((one) => one === timing) ?? EMPTY_FORM.timing,
    profile: kept.profile === true,
    gpuType: asText(kept.gpuType),
    eighths: typeof eighths === "number" && eighths > 0 ? eighths : WHOLE_GPU,
    fallbacks: Array.isArray(fallbacks) ? fallbacks.filter((one) => typeof one === "string") : [],
    launchPlan: asText(kept.launchPlan),
    definition: asText(kept.definition),
  };
}

function asText(value: unknown): string {
  return typeof value === "string" ? value : "";
}

export function isProgram({ mode }: Form): boolean {
  return mode === "sandbox";
}

export function isTimed({ mode }: Form): boolean {
  return TIMED.includes(mode);
}

export function isProfiled({ mode }: Form): boolean {
  return PROFILED.includes(mode);
}

// What is asked for anyway is no fallback of its own.
export function withGpu(form: Form, gpuType: string): Form {
  return { ...form, gpuType, fallbacks: form.fallbacks.filter((type) => type !== gpuType) };
}

export function withFallback(form: Form, type: string, isWanted: boolean): Form {
  const others = form.fallbacks.filter((one) => one !== type);
  return { ...form, fallbacks: isWanted ? [...others, type] : others };
}

// Only what may be asked for now, whatever was asked for before.
export function withOffered(form: Form, offered: readonly string[]): Form {
  const gpuType = offered.includes(form.gpuType) ? form.gpuType : (offered[0] ?? "");
  return withGpu({ ...form, fallbacks: form.fallbacks.filter((type) => offered.includes(type)) }, gpuType);
}

// The question of `GET /api/v1/quote`.
export function quoteQuery({ gpuType, fallbacks, eighths }: Form) {
  return {
    gpu_type: [gpuType, ...fallbacks],
    eighths: Math.min(eighths, WHOLE_GPU),
    gpus: Math.max(eighths / WHOLE_GPU, 1),
  };
}

export interface Subject {
  slug: string;
  dtype: string;
}

// Throws ApiError if the launch plan is not JSON.
export function requestOf(form: Form, code: string, subject: Subject): Schemas["SubmissionRequest"] {
  const isKernel = !isProgram(form);
  const { launchPlan, definition } = form;
  return {
    code,
    mode: form.mode,
    gpu_type: form.gpuType,
    ...(form.fallbacks.length ? { fallback_gpu_types: form.fallbacks } : {}),
    ...size(form),
    ...(form.timing && isTimed(form) ? { timing: form.timing } : {}),
    ...(form.profile && isProfiled(form) ? { profile: true } : {}),
    ...(isKernel ? { problem: subject.slug, dtype: subject.dtype } : { problem: "" }),
    ...(launchPlan.trim() && isKernel ? { launch_plan: parsed(launchPlan) } : {}),
    ...(definition.trim() && isKernel ? { problem_def: definition } : {}),
  };
}

type Sent = Pick<
  Schemas["SubmissionDetail"],
  "mode" | "timing" | "profile" | "gpu_type" | "fallback_gpu_types" | "launch_plan" | "problem_def"
> & { resources: Schemas["SubmissionDetail"]["resources"] | null };

// The fields as somebody left them who sent this.
export function formOf(submission: Sent, offered: readonly string[]): Form {
  const { mode, timing, profile, gpu_type: gpuType, fallback_gpu_types: fallbacks, resources } = submission;
  const { launch_plan: plan, problem_def: definition } = submission;
  return {
    mode: mode as Mode,
    timing: (timing ?? "") as Timing | "",
    profile,
    gpuType: offered.includes(gpuType) ? gpuType : (offered[0] ?? ""),
    eighths: (resources?.gpus ?? resources?.fraction ?? 1) * WHOLE_GPU,
    fallbacks: [...fallbacks],
    launchPlan: plan ? JSON.stringify(plan, null, 2) : "",
    definition,
  };
}

// True if something is asked for that most people never open.
export function hasExtras(form: Form): boolean {
  const { launchPlan, definition, fallbacks, eighths } = form;
  const hasTexts = !isProgram(form) && Boolean(launchPlan || definition);
  return hasTexts || fallbacks.length > 0 || eighths !== WHOLE_GPU;
}

// Nothing for one whole GPU, which is what a submission gets that does not say.
function size({ eighths }: Form): Pick<Schemas["SubmissionRequest"], "resources"> {
  if (eighths === WHOLE_GPU) return {};
  const amount = eighths / WHOLE_GPU;
  return { resources: (amount < 1 ? { fraction: amount } : { gpus: amount }) as Schemas["Resources"] };
}

function parsed(plan: string): Record<string, unknown> {
  try {
    return JSON.parse(plan);
  } catch (error) {
    throw new ApiError(422, `The launch plan is not JSON: ${(error as Error).message}`);
  }
}
