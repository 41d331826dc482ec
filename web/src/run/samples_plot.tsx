// All samples of a case over time, with its sessions and the device's instruments.

import { useQuery } from "@tanstack/preact-query";
import { useMemo } from "preact/hooks";
import { figure, inUnit, type TimeUnit } from "../page/format";
import { Table } from "../page/table";
import { halfOf } from "./case_times";
import { axisOf } from "./distribution";
import type { Benchmark } from "./frames";
import { dotsOf, type Samples, type Session, samplesOf, tracesOf } from "./samples";

const SIZE = { width: 600, height: 160 };
const LINE = { width: 600, height: 36 };
const COLUMNS = ["Session", "Samples", "Replaced", "Shortest", "Median", "Longest"].map((title, at) => ({
  title,
  class: at ? "number" : "",
}));

interface Of {
  result: Benchmark;
  unit: TimeUnit;
}

export default function SamplesPlot({ id, result, unit }: Of & { id: string }) {
  const { data, error } = useQuery(samplesOf(id, result.test_id));
  if (error) return <p class="empty">The samples could not be read: {error.message}</p>;
  if (data === undefined) return <p class="empty">Reading the samples…</p>;
  if (!data?.sessions.length) return <p class="empty">The samples of this run are not kept.</p>;
  return <Drawn samples={data} result={result} unit={unit} />;
}

function Drawn({ samples, result, unit }: Of & { samples: Samples }) {
  const axis = axisOf(result);
  const all = samples.sessions.reduce((sum, { samples_ms: one }) => sum + one.length, 0);
  const dots = useMemo(() => (axis ? dotsOf(samples.sessions, axis, SIZE) : []), [samples]);
  const traces = useMemo(() => tracesOf(samples, all, LINE), [samples]);
  const shown = (ms: number) => inUnit(ms, halfOf(result) / 10, unit);
  return (
    <>
      {axis ? (
        <>
          <p class="hint">{`From ${shown(axis.low)} below to ${shown(axis.high)} above; sessions follow each other from left to right.`}</p>
          <svg
            class="plot samples"
            viewBox={`0 -4 ${SIZE.width} ${SIZE.height + 8}`}
            role="img"
            aria-label={`${all} samples of ${result.name}; the numbers are below`}
          >
            {dots.map((path, at) => (
              <path class={at % 2 ? "dots other" : "dots"} key={at} d={path} />
            ))}
          </svg>
        </>
      ) : null}
      {traces.map(({ name, unit: of, low, high, path }) => (
        <div class="trace" key={name}>
          <span class="hint">{`${name}: ${figure(low)} to ${figure(high)} ${of}`}</span>
          <svg
            class="plot"
            viewBox={`0 -2 ${LINE.width} ${LINE.height + 4}`}
            role="img"
            aria-label={`${name} over time`}
          >
            <path class="line-of" d={path} />
          </svg>
        </div>
      ))}
      <Table
        caption={`Samples of ${result.name} by session`}
        columns={COLUMNS}
        rows={samples.sessions.map((session) => cells(session, shown))}
      />
    </>
  );
}

function cells({ session, samples_ms: samples, replaced }: Session, shown: (ms: number) => string): string[] {
  const sorted = [...samples].sort((one, other) => one - other);
  const median = ((sorted[(sorted.length - 1) >> 1] ?? 0) + (sorted[sorted.length >> 1] ?? 0)) / 2;
  return [
    session === null ? "–" : String(session),
    String(samples.length),
    String(replaced.length),
    shown(sorted[0] ?? Number.NaN),
    shown(median),
    shown(sorted.at(-1) ?? Number.NaN),
  ];
}
