import { expect, test } from "vitest";
import { ApiError } from "../gateway/api_error";
import {
  EMPTY_FORM,
  type Form,
  hasExtras,
  quoteQuery,
  rememberedForm,
  requestOf,
  toRemember,
  withFallback,
  withGpu,
  withOffered,
} from "./form";

const FORM: Form = { ...EMPTY_FORM, gpuType: "MI300X" };
const SUBJECT = { slug: "softmax", dtype: "float16" };

test("a whole GPU is asked for without saying so", () => {
  expect(requestOf(FORM, "x", SUBJECT)).toEqual({
    code: "x",
    mode: "full",
    gpu_type: "MI300X",
    problem: "softmax",
    dtype: "float16",
  });
});

test.each([
  [2, { fraction: 0.25 }, { eighths: 2, gpus: 1 }],
  [32, { gpus: 4 }, { eighths: 8, gpus: 4 }],
])("%i eighths of a GPU are asked for and quoted as the gateway takes them", (eighths, resources, quoted) => {
  const form = { ...FORM, eighths };
  expect(requestOf(form, "x", SUBJECT).resources).toEqual(resources);
  expect(quoteQuery(form)).toEqual({ gpu_type: ["MI300X"], ...quoted });
});

test("a whole program has no problem, plan, timing or profile", () => {
  const form: Form = { ...FORM, mode: "sandbox", timing: "hot", profile: true, launchPlan: "{}", definition: "d" };
  expect(requestOf(form, "x", SUBJECT)).toEqual({ code: "x", mode: "sandbox", gpu_type: "MI300X", problem: "" });
});

test("what is asked for anyway is no fallback of its own", () => {
  const form = withFallback(withFallback(FORM, "MI210", true), "MI250X", true);
  expect(withGpu(form, "MI250X").fallbacks).toEqual(["MI210"]);
  expect(withFallback(form, "MI210", false).fallbacks).toEqual(["MI250X"]);
});

test("a launch plan that is not JSON is refused before anything is sent", () => {
  expect(() => requestOf({ ...FORM, launchPlan: "{" }, "x", SUBJECT)).toThrow(ApiError);
});

test("a tab remembers all that was asked for, and a new one what is of no single problem", () => {
  const form: Form = {
    ...FORM,
    mode: "benchmark",
    timing: "hot",
    fallbacks: ["MI210"],
    launchPlan: "{}",
    definition: "d",
  };
  const [whole, lasting] = toRemember(form).map(rememberedForm);
  expect(whole).toEqual(form);
  expect(lasting).toEqual({ ...form, launchPlan: "", definition: "" });
});

test.each([null, "", "{", "7", "null", '{"mode":"later","timing":7,"eighths":"x","fallbacks":[7],"profile":"yes"}'])(
  "what another version of the page left, %j, is no failure",
  (kept) => {
    expect(rememberedForm(kept)).toEqual(EMPTY_FORM);
  },
);

test("a kernel is not run as a program because an older page remembered that mode", () => {
  expect(rememberedForm(JSON.stringify({ ...FORM, mode: "sandbox" }))).toEqual(FORM);
});

test("only a kernel opens the options for its plan or definition", () => {
  const form: Form = { ...FORM, launchPlan: "{}", definition: "d" };
  expect([hasExtras(form), hasExtras({ ...form, mode: "sandbox" })]).toEqual([true, false]);
  expect(hasExtras({ ...form, mode: "sandbox", eighths: 4 })).toBe(true);
});

test("what is offered no longer is not asked for", () => {
  const form = { ...FORM, gpuType: "GONE", fallbacks: ["MI210", "GONE", "MI300X"] };
  expect(withOffered(form, ["MI300X", "MI210"])).toMatchObject({ gpuType: "MI300X", fallbacks: ["MI210"] });
});
