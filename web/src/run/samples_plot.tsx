// All samples of a case over time, with its sessions and the device's instruments.

import { useQuery } from "@tanstack/preact-query";
import { useMemo } from "preact/hooks";
import { count, figure, inUnit, type TimeUnit } from "../page/format";
import { Table } from "../page/table";
import { halfOf } from "./case_times";
import type { Axis } from "./distribution";
import type { Benchmark } from "./frames";
import { axisOfSamples, beyond, dotsOf, type Samples, type Session, samplesOf, tracesOf } from "./samples";

const SIZE = { width: 600, height: 160 };
// Beside the dots, for the names of the axes.
const EDGES = { left: 84, right: 8, top: 8, bottom: 26 };
// More names than these would stand in each other.
const MOST_NAMES = 6;
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
  const axis = useMemo(() => axisOfSamples(samples.sessions), [samples]);
  const all = samples.sessions.reduce((sum, { samples_ms: one }) => sum + one.length, 0);
  const dots = useMemo(() => (axis ? dotsOf(samples.sessions, axis, SIZE) : []), [samples]);
  const traces = useMemo(() => tracesOf(samples, all, LINE), [samples]);
  const shown = (ms: number) => inUnit(ms, halfOf(result) / 10, unit);
  return (
    <>
      {axis ? (
        <>
          <svg
            class="plot samples"
            viewBox={`${-EDGES.left} ${-EDGES.top} ${EDGES.left + SIZE.width + EDGES.right} ${EDGES.top + SIZE.height + EDGES.bottom}`}
            role="img"
            aria-label={`${all} samples of ${result.name}; the numbers are below`}
          >
            <Names sessions={samples.sessions} axis={axis} all={all} shown={shown} />
            {dots.map((path, at) => (
              <path class={at % 2 ? "dots other" : "dots"} key={at} d={path} />
            ))}
          </svg>
          <p class="hint">
            Upwards the time of a call, from left to right all samples in their order.
            {cutNote(samples.sessions, axis, all, shown)}
          </p>
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

interface NamesOf {
  sessions: readonly Session[];
  axis: Axis;
  all: number;
  shown: (ms: number) => string;
}

// Of both axes: times at the left, and below where each session is, or how many samples there are.
function Names({ sessions, axis, all, shown }: NamesOf) {
  const times = [axis.low, (axis.low + axis.high) / 2, axis.high];
  let begun = 0;
  const spans = sessions.map(({ session, samples_ms: samples }) => {
    const begin = (begun / all) * SIZE.width;
    begun += samples.length;
    return { session, begin, middle: (begin + (begun / all) * SIZE.width) / 2 };
  });
  const below = SIZE.height + 18;
  return (
    <>
      {times.map((ms) => {
        const y = SIZE.height * (1 - axis.place(ms));
        return [
          <path class="grid" key={ms} d={`M0 ${y}H${SIZE.width}`} />,
          <text key={`${ms}-name`} x={-8} y={y + 4} text-anchor="end">
            {shown(ms)}
          </text>,
        ];
      })}
      {spans.slice(1).map(({ begin }) => (
        <path class="grid" key={begin} d={`M${begin} 0V${SIZE.height}`} />
      ))}
      {spans.length <= MOST_NAMES ? (
        spans.map(({ session, middle }) => (
          <text key={middle} x={middle} y={below} text-anchor="middle">
            {session === null ? `${count(all)} samples` : `session ${session}`}
          </text>
        ))
      ) : (
        <text x={SIZE.width} y={below} text-anchor="end">
          {`${count(all)} samples in ${spans.length} sessions`}
        </text>
      )}
    </>
  );
}

function cutNote(sessions: readonly Session[], axis: Axis, all: number, shown: (ms: number) => string): string {
  const { count: slow, longest } = beyond(sessions, axis);
  if (!slow) return "";
  const they = slow === 1 ? "1 is slower and" : `${count(slow)} are slower and`;
  return ` Of ${count(all)}, ${they} drawn at the upper edge; the slowest took ${shown(longest)}.`;
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
