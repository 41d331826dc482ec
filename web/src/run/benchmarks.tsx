// The table of measured times, with each case's spread drawn.

import type { ComponentChildren } from "preact";
import { figure, isNumber, milliseconds } from "../page/format";
import { type Column, Table } from "../page/table";
import type { Timing } from "../request/form";
import type { Benchmark } from "./frames";
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
}: {
  results: Benchmark[];
  device: Device;
  timing: Run["timing"];
}) {
  const hasRoof = results.some(({ percent_of_roof: share }) => isNumber(share));
  const columns: (Column | null)[] = [
    { title: "Case" },
    { title: "Median", class: "number" },
    { title: "95 % interval", class: "number" },
    { title: "Trust" },
    { title: "Spread", class: "optional" },
    { title: "GFLOP/s", class: "number" },
    { title: "GB/s", class: "number" },
    hasRoof ? { title: "Of roof", class: "number optional" } : null,
    { title: "Samples", class: "number optional" },
  ];
  const rows = results.map((result) => cells(result, hasRoof));
  return (
    <section>
      <h3>Benchmark</h3>
      <Hint text={timedHow(timing)} />
      <Hint text={origin(device)} />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: people scroll it with the keyboard */}
      <section class="table-scroll" tabIndex={0} aria-label="Times">
        <Table
          caption="Times of each test case"
          columns={columns.filter((one) => one !== null)}
          rows={rows}
          class="benchmarks"
        />
      </section>
    </section>
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

function cells(result: Benchmark, hasRoof: boolean): ComponentChildren[] {
  const shown = (cell: () => ComponentChildren) => (isMeasured(result) ? cell() : "–");
  return [
    result.name,
    <strong key="median">{shown(() => milliseconds(result.runtime_ms))}</strong>,
    shown(() => <Interval {...result} />),
    <Trust key="trust" {...result} />,
    shown(() => <Spread {...result} />),
    shown(() => figure(result.gflops)),
    shown(() => figure(result.gbytes_per_second)),
    ...(hasRoof ? [shown(() => `${figure(result.percent_of_roof)} %`)] : []),
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

function Interval({ ci, runtime_ms: median }: Benchmark) {
  if (!ci || !isNumber(ci.low_ms) || !median) return "–";
  const half = (100 * (ci.high_ms - ci.low_ms)) / 2 / median;
  return (
    <span title={`${milliseconds(ci.low_ms)} to ${milliseconds(ci.high_ms)}`}>
      {half > 100 ? "over ± 100 %" : `± ${Number(half.toPrecision(2))} %`}
    </span>
  );
}

function Spread({ min_ms: min, max_ms: max, p5_ms: p5, p95_ms: p95, runtime_ms: median, ci }: Benchmark) {
  if (!isNumber(min) || !isNumber(max) || !(max > min) || !isNumber(median)) return "–";
  const place = (value: number) => 2 + ((WIDTH - 4) * (value - min)) / (max - min);
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
