import { expect, test } from "vitest";
import type { Schemas } from "../gateway/client";
import { EMPTY_FORM, type Form } from "./form";
import { chosen, isMissing, missingCredit, mostWords } from "./words";

const FORM: Form = { ...EMPTY_FORM, gpuType: "MI300X" };

function quote(hold: number, hour = 1.99): Schemas["Quote"] {
  const line = { gpu_type: "MI300X", price_usd_per_hour: 1.99, hour_usd: hour, price_usd: 0, minimum_usd: 0 };
  return {
    hour_usd: hour,
    price_usd: 0,
    minimum_usd: 0,
    hold_usd: hold,
    duration_seconds: 1,
    longest_run_seconds: 900,
    lines: [line],
  };
}

test.each([
  [quote(0.4975), {}, "at most $0.50 on an MI300X at $1.99/h"],
  [quote(0.5), {}, "at most $0.50 on an MI300X at $1.99/h"],
  [quote(0.5001), {}, "at most $0.51 on an MI300X at $1.99/h"],
  [quote(0.001234), {}, "at most $0.001234 on an MI300X at $1.99/h"],
  [quote(1.99, 7.96), { eighths: 32 }, "at most $1.99 on 4 MI300X at $7.96/h"],
  [quote(0.13, 0.4975), { eighths: 2 }, "at most $0.13 on 1/4 of an MI300X at $0.4975/h"],
  [quote(0.5), { fallbacks: ["MI210"] }, "at most $0.50 on an MI300X at $1.99/h, or on another that will do"],
  [{ ...quote(0.5), lines: [] }, {}, "at most $0.50"],
])("the most that it costs is never said to be less", (quoted, changes, words) => {
  expect(mostWords(quoted, { ...FORM, ...changes })).toBe(words);
});

test("credit that does not cover what a run puts on hold is said to before it is sent", () => {
  expect(missingCredit(quote(0.5), 0)).toBe(
    "Your credit of $0.00 does not cover the $0.50 that it puts on hold, so it would be refused. Whoever runs this service can give you credit.",
  );
  expect(missingCredit(quote(0.5), 0.5)).toBe("");
  expect(missingCredit(quote(0), 0)).toBe("");
});

test("the cheapest type that will do is enough", () => {
  const [dear] = quote(2).lines as [Schemas["QuoteLine"]];
  const either = { ...quote(2), lines: [dear, { ...dear, gpu_type: "MI210", hour_usd: 0.995 }] };
  expect(missingCredit(either, 1)).toBe("");
  expect(missingCredit(either, 0.9)).toContain("$0.90");
});

test("one line says all that is chosen, and nothing that is not asked for", () => {
  const all: Form = {
    ...FORM,
    timing: "cold",
    profile: true,
    eighths: 16,
    fallbacks: ["MI210"],
    launchPlan: "{}",
    definition: "class",
  };
  expect(chosen(FORM)).toBe("Full · MI300X");
  expect(chosen(all)).toBe("Full · 2 MI300X · or MI210 · cold caches · profile · launch plan · your own problem");
  expect(chosen({ ...all, mode: "sandbox" })).toBe("Sandbox · 2 MI300X · or MI210");
});

test("a type is called missing only once the pool has said what it has", () => {
  const pool = [{ gpu_type: "MI300X" }] as Schemas["GpuAvailability"][];
  expect([isMissing("MI210", undefined), isMissing("MI210", pool), isMissing("MI300X", pool)]).toEqual([
    false,
    true,
    false,
  ]);
});
