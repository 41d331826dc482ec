// The times of one case: how they are spread, what its sessions measured, and the numbers.

import { useState } from "preact/hooks";
import { inUnit, measured, type TimeUnit } from "../page/format";
import { later } from "../page/later";
import { Table } from "../page/table";
import { halfOf } from "./case_times";
import { type Axis, axisOf, jitter } from "./distribution";
import type { Benchmark } from "./frames";

const WIDTH = 600;
const EDGE = 6;
const ROWS = { box: 16, samples: 40, sessions: 76, height: 92 };
export const LEGEND =
  "Each case's times: the box is 5 to 95 %, its dark part the middle half, the shade behind it the interval of the " +
  "median, dots are samples, and triangles the medians of sessions, each a process of its own.";
const COLUMNS = [{ title: "Time" }, { title: "Value", class: "number" }];

const SamplesPlot = later(() => import("./samples_plot"), <p class="empty">Reading the samples…</p>);

// `submissionId` is empty as long as the run goes on: its samples can be read after its end.
export function Distribution({
  result,
  unit,
  submissionId,
}: {
  result: Benchmark;
  unit: TimeUnit;
  submissionId: string;
}) {
  const [isOpen, setOpen] = useState(false);
  const axis = axisOf(result);
  const half = halfOf(result);
  // Single times are told apart by more digits than their median has.
  const shown = (ms: number) => inUnit(ms, half / 10, unit);
  return (
    <figure class="distribution">
      <figcaption>
        <strong>{result.name}</strong> {measured(result.runtime_ms, half, unit)}
        <span class="hint">{told(result)}</span>
      </figcaption>
      {axis ? (
        <>
          <Plot result={result} axis={axis} />
          <div class="axis-ends hint">
            <span>{shown(axis.low)}</span>
            <span>
              {axis.isCut
                ? `${shown(axis.high)}; the slowest, ${shown(result.max_ms)}, is off the plot`
                : shown(axis.high)}
            </span>
          </div>
        </>
      ) : null}
      <details>
        <summary>
          Numbers<span class="visually-hidden"> of {result.name}</span>
        </summary>
        <Table caption={`Times of ${result.name}`} columns={COLUMNS} rows={numbers(result, shown)} />
      </details>
      {submissionId ? (
        <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
          <summary>
            All samples over time<span class="visually-hidden"> of {result.name}</span>
          </summary>
          {isOpen ? <SamplesPlot id={submissionId} result={result} unit={unit} /> : null}
        </details>
      ) : null}
    </figure>
  );
}

function Plot({ result, axis }: { result: Benchmark; axis: Axis }) {
  const { runtime_ms: median, ci, runs, session_medians_ms: sessions } = result;
  const x = (ms: number) => EDGE + (WIDTH - 2 * EDGE) * axis.place(ms);
  const bar = (kind: string, from: number, to: number, height: number) =>
    from > 0 && to > 0 ? (
      <rect class={kind} x={x(from)} y={ROWS.box - height / 2} width={Math.max(1, x(to) - x(from))} height={height} />
    ) : null;
  return (
    <svg class="plot" viewBox={`0 0 ${WIDTH} ${ROWS.height}`} role="img" aria-label={`Spread of ${result.name}`}>
      {ci ? (
        <rect
          class="band"
          x={x(ci.low_ms)}
          y={0}
          width={Math.max(1, x(ci.high_ms) - x(ci.low_ms))}
          height={ROWS.height}
        />
      ) : null}
      {bar("range", result.min_ms, result.max_ms, 2)}
      {bar("interval", result.p5_ms, result.p95_ms, 12)}
      {bar("middle", result.p25_ms, result.p75_ms, 20)}
      <path class="median" d={`M${x(median)} 2V${ROWS.height}`} />
      {(runs ?? []).map(({ run_index: at, runtime_ms: ms }) => (
        <circle class="dot" key={at} cx={x(ms)} cy={ROWS.samples - 8 + 24 * jitter(at)} r={2.5} />
      ))}
      {(sessions ?? []).map((ms, at) => (
        <path class="session" key={at} d={`M${x(ms)} ${ROWS.sessions}l-4 10h8z`} />
      ))}
    </svg>
  );
}

function told({ runs, session_medians_ms: sessions, replaced_samples: replaced }: Benchmark): string {
  return [
    runs?.length ? `${runs.length} samples drawn` : "",
    sessions?.length ? `${sessions.length} ${sessions.length === 1 ? "session" : "sessions"}` : "",
    replaced ? `${replaced} samples were replaced` : "",
  ]
    .filter(Boolean)
    .map((part) => ` · ${part}`)
    .join("");
}

function numbers(result: Benchmark, shown: (ms: number) => string): string[][] {
  const percentiles: [string, number][] = [
    ["Shortest", result.min_ms],
    ["5 %", result.p5_ms],
    ["25 %", result.p25_ms],
    ["Median of the sessions", result.runtime_ms],
    ["75 %", result.p75_ms],
    ["95 %", result.p95_ms],
    ["99 %", result.p99_ms],
    ["Longest", result.max_ms],
  ];
  const sessions = (result.session_medians_ms ?? []).map((ms, at): [string, number] => [`Session ${at + 1}`, ms]);
  // 0: the device does not tell it.
  return [...percentiles, ...sessions].filter(([, ms]) => ms > 0).map(([name, ms]) => [name, shown(ms)]);
}
