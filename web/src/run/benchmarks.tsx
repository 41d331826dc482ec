// The table of measured times, with each case's spread drawn.

import type { ComponentChildren } from "preact";
import { figure, inUnit, isNumber, measured, milliseconds, type TimeUnit } from "../page/format";
import { type Column, Table } from "../page/table";
import type { Timing } from "../request/form";
import { halfOf, known, unitOfTimes } from "./case_times";
import { axisOf } from "./distribution";
import { Distribution, LEGEND } from "./distribution_plot";
import type { Benchmark } from "./frames";
import { Roofline } from "./roofline_plot";
import type { Run } from "./run_state";
import { isMeasured, type Kind, timingKind, timingWord } from "./verdicts";

const WIDTH = 110;
const HEIGHT = 22;
const TIMED_HOW: Record<Timing, string> = {
  cold: "Cold times: the caches were swept before each call.",
  hot: "Hot times: the caches were as the new inputs left them.",
  "first-call": "First-call times: each call was the first of a fresh process.",
};

type Device = NonNullable<Run["device"]>;

export function Benchmarks({
  results,
  device,
  timing,
  submissionId,
}: {
  results: Benchmark[];
  device: Device;
  timing: Run["timing"];
  submissionId: string;
}) {
  const hasRoof = results.some(({ percent_of_roof: share }) => isNumber(share));
  const columns: (Column | null)[] = [
    { title: "Case" },
    { title: "Median", class: "number" },
    { title: "95 % interval", class: "number" },
    { title: "Trust" },
    { title: "Spread" },
    { title: "GFLOP/s", class: "number" },
    { title: "GB/s", class: "number" },
    hasRoof ? { title: "Of roof", class: "number" } : null,
    { title: "Samples", class: "number" },
  ];
  const proven = results.filter(isMeasured);
  const unit = unitOfTimes(proven);
  const rows = results.map((result) => cells(result, hasRoof, unit));
  return (
    <section>
      <h3>Benchmark</h3>
      <Hint text={timedHow(timing)} />
      <Hint text={origin(device)} />
      <Table
        caption="Times of each test case"
        columns={columns.filter((one) => one !== null)}
        rows={rows}
        class="benchmarks"
      />
      <Doubts results={results} />
      {proven.length ? <p class="hint">{LEGEND}</p> : null}
      {proven.map((result) => (
        <Distribution key={result.test_id} result={result} unit={unit} submissionId={submissionId} />
      ))}
      <Roofline results={proven} />
    </section>
  );
}

// Why times are not proven: in words that everybody sees, not only who points at them.
function Doubts({ results }: { results: Benchmark[] }) {
  const doubted = results.filter(({ unproven_because: because }) => because);
  if (!doubted.length) return null;
  return (
    <ul class="doubts">
      {doubted.map(({ name, unproven_because: because }) => (
        <li key={name}>
          <strong>{name}</strong> is not proven: {because}
        </li>
      ))}
    </ul>
  );
}

function Hint({ text }: { text: string }) {
  return text ? <p class="hint">{text}</p> : null;
}

function timedHow({ mode, flushVerified }: Run["timing"]): string {
  const doubt = flushVerified === false ? " That was not seen to empty them: these may be times of warm caches." : "";
  const words = TIMED_HOW[mode as Timing];
  return words ? words + doubt : "";
}

function origin({ name, title }: Device): string {
  if (name === "cpu") return `Times are from a CPU (${title}); they rank beside no GPU's.`;
  return name === "sim" ? "Times are simulated: they say nothing of any hardware." : "";
}

function cells(result: Benchmark, hasRoof: boolean, unit: TimeUnit): ComponentChildren[] {
  const shown = (cell: () => ComponentChildren) => (isMeasured(result) ? cell() : "–");
  const half = halfOf(result);
  return [
    result.name,
    <strong key="median">{shown(() => measured(result.runtime_ms, half, unit))}</strong>,
    shown(() => <Interval result={result} unit={unit} />),
    <Trust key="trust" {...result} />,
    shown(() => <Spread {...result} />),
    shown(() => known(result, result.gflops)),
    shown(() => known(result, result.gbytes_per_second)),
    ...(hasRoof ? [shown(() => `${known(result, result.percent_of_roof)} %`)] : []),
    samples(result),
  ];
}

function samples({ samples: count, session_medians_ms: sessions }: Benchmark): string {
  return sessions?.length ? `${count} in ${sessions.length}` : String(count);
}

// What a reader must know before believing the time: a word, and the reason when pointed at.
function Trust(result: Benchmark) {
  const [word, kind, why] = judgement(result);
  return (
    <span class={`trust ${kind}`} title={why}>
      {word}
    </span>
  );
}

function judgement(result: Benchmark): [string, Kind, string] {
  const { timing, converged, stopped_by: ended, audit_ratio: ratio, floor_ms: floor } = result;
  const audit = isNumber(ratio) ? `, ${figure(ratio)} times what the judge's clock allows` : "";
  const least = isNumber(floor) ? `; the hardware needs at least ${milliseconds(floor)}` : "";
  const word = timingWord(result);
  if (timing === "INVALID") return [word, "bad", `This time cannot be true${audit}${least}`];
  if (timing === "UNSTABLE") return [word, timingKind(result), unstable(result)];
  if (timing === "UNPROVEN") return [word, "warn", result.unproven_because ?? ""];
  if (converged === false)
    return [
      `${word}, not converged`,
      "warn",
      ended === "out_of_reach"
        ? "The samples differ so much that the interval could not have become as narrow as wanted, so we took no more"
        : "A cap ended the measurement before the interval was as narrow as wanted",
    ];
  return [word, timingKind(result), `The interval of the median is as narrow as wanted${audit}`];
}

function unstable({ disagreement, ci, runtime_ms: median }: Benchmark): string {
  const half = ci && median ? figure((100 * (ci.high_ms - ci.low_ms)) / 2 / median) : "–";
  const apart = figure(100 * (disagreement ?? Number.NaN));
  return `Separate processes are ${apart} % apart, and the interval is ± ${half} %: no time to rank`;
}

function Interval({ result, unit }: { result: Benchmark; unit: TimeUnit }) {
  const { ci, runtime_ms: median } = result;
  if (!ci || !isNumber(ci.low_ms) || !median) return "–";
  const half = halfOf(result);
  const percent = (100 * half) / median;
  return (
    <span title={`${inUnit(ci.low_ms, half / 10, unit)} to ${inUnit(ci.high_ms, half / 10, unit)}`}>
      {percent > 100 ? "over ± 100 %" : `± ${Number(percent.toPrecision(2))} %`}
    </span>
  );
}

function Spread(result: Benchmark) {
  const { min_ms: min, max_ms: max, p5_ms: p5, p95_ms: p95, runtime_ms: median, ci } = result;
  const axis = axisOf(result);
  if (!axis || !isNumber(median)) return "–";
  const place = (value: number) => 2 + (WIDTH - 4) * axis.place(value);
  const bar = (kind: string, from: number, to: number, height: number) => (
    <rect
      class={kind}
      x={place(from)}
      y={(HEIGHT - height) / 2}
      width={Math.max(1, place(to) - place(from))}
      height={height}
      rx={2}
    />
  );
  return (
    <svg
      class="spread"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      role="img"
      aria-label={`From ${milliseconds(min)} to ${milliseconds(max)}`}
    >
      {ci ? <title>Bar: 5th to 95th percentile. Line: median.</title> : null}
      {bar("range", min, max, 2)}
      {isNumber(p5) && isNumber(p95) ? bar("interval", p5, p95, 10) : null}
      <rect class="median" x={place(median) - 1.5} y={2} width={3} height={HEIGHT - 4} rx={1.5} />
    </svg>
  );
}
