// All samples of a case, as `GET /submissions/{id}/samples` has them, and where they are drawn; pure but for the call.

import { queryOptions } from "@tanstack/preact-query";
import { ApiError } from "../gateway/api_error";
import { api, given, type Schemas } from "../gateway/client";
import { type Axis, axisOf } from "./distribution";

export type Session = Schemas["SessionSamples"];
export type Samples = Pick<Schemas["CaseSamples"], "sessions" | "instruments">;
type Reading = Schemas["InstrumentReading"];

// Null: they are not kept.
export function samplesOf(id: string, testId: number) {
  const params = { path: { submission_id: id }, query: { test_id: testId } };
  return queryOptions({
    queryKey: ["samples", id, testId],
    queryFn: async (): Promise<Samples | null> => {
      try {
        return (await given(api.GET("/api/v1/submissions/{submission_id}/samples", { params }))).cases[0] ?? null;
      } catch (error) {
        if (error instanceof ApiError && error.status === 404) return null;
        throw error;
      }
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
}

export interface Size {
  width: number;
  height: number;
}

// The axis of all samples; null if they do not differ.
export function axisOfSamples(sessions: readonly Session[]): Axis | null {
  const sorted = sessions.flatMap(({ samples_ms: samples }) => samples).sort((one, other) => one - other);
  const at = (share: number) => sorted[Math.round(share * (sorted.length - 1))] ?? Number.NaN;
  return axisOf({ min_ms: at(0), p25_ms: at(0.25), p75_ms: at(0.75), p95_ms: at(0.95), max_ms: at(1) });
}

// The samples that are drawn at the edge.
export function beyond(sessions: readonly Session[], { high }: Axis): { count: number; longest: number } {
  const slow = sessions.flatMap(({ samples_ms: samples }) => samples.filter((ms) => ms > high));
  return { count: slow.length, longest: slow.reduce((most, ms) => Math.max(most, ms), 0) };
}

// One path for each session, of one dot for each sample from left to right; one path, as 10,000 elements would be slow.
export function dotsOf(sessions: readonly Session[], axis: Axis, { width, height }: Size): string[] {
  const all = sessions.reduce((sum, { samples_ms: samples }) => sum + samples.length, 0);
  const step = width / Math.max(1, all);
  let begun = 0;
  return sessions.map(({ samples_ms: samples }) => {
    const first = begun;
    begun += samples.length;
    return samples
      .map((ms, at) => `M${((first + at + 0.5) * step).toFixed(1)} ${(height * (1 - axis.place(ms))).toFixed(1)}h0`)
      .join("");
  });
}

export interface Trace {
  name: string;
  unit: string;
  low: number;
  high: number;
  path: string;
}

const INSTRUMENTS: [string, string, (reading: Reading) => number | null | undefined][] = [
  ["Clock", "MHz", ({ clock_mhz: clock }) => clock],
  ["Temperature", "°C", ({ temperature_celsius: temperature }) => temperature],
  ["Power", "W", ({ power_watts: power }) => power],
];

// A line for each instrument that the device has.
export function tracesOf({ instruments }: Samples, all: number, { width, height }: Size): Trace[] {
  const x = ({ sample }: Reading) => ((sample + 0.5) / all) * width;
  return INSTRUMENTS.flatMap(([name, unit, value]) => {
    const points = instruments.flatMap((one) => {
      const read = value(one);
      return typeof read === "number" && Number.isFinite(read) ? [{ x: x(one), read }] : [];
    });
    if (!points.length) return [];
    const [low, high] = [Math.min(...points.map(({ read }) => read)), Math.max(...points.map(({ read }) => read))];
    const y = (read: number) => (high > low ? height * (1 - (read - low) / (high - low)) : height / 2);
    return [
      {
        name,
        unit,
        low,
        high,
        path: `M${points.map((one) => `${one.x.toFixed(1)} ${y(one.read).toFixed(1)}`).join("L")}`,
      },
    ];
  });
}
