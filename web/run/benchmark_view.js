// The table of measured times, with each case's spread drawn.

import { element, svg, table } from "../page/dom.js";
import { figure, milliseconds } from "../page/format.js";
import { timedHow } from "../request/timing.js";

const WIDTH = 110;
const HEIGHT = 22;
const ORIGINS = {
  cpu: (title) => `Times are from a CPU (${title}); they rank beside no GPU's.`,
  sim: () => "Times are simulated: they say nothing of any hardware.",
};

export function benchmarkTable(results, device, timing) {
  const hasRoof = results.some((result) => Number.isFinite(result.percent_of_roof));
  const columns = [
    { title: "Case" },
    { title: "Median", className: "number" },
    { title: "95 % interval", className: "number" },
    { title: "Trust" },
    { title: "Spread", className: "optional" },
    { title: "GFLOP/s", className: "number" },
    { title: "GB/s", className: "number" },
    hasRoof ? { title: "Of roof", className: "number optional" } : null,
    { title: "Samples", className: "number optional" },
  ].filter(Boolean);
  const rows = results.map((result) =>
    [
      result.name,
      ...timeCells(result, hasRoof),
      samples(result),
    ].filter((cell) => cell !== null),
  );
  return element(
    "section",
    {},
    element("h3", {}, "Benchmark"),
    timedHow(timing) ? element("p", { className: "hint" }, timedHow(timing)) : null,
    ORIGINS[device?.name] ? element("p", { className: "hint" }, ORIGINS[device.name](device.title)) : null,
    element(
      "div",
      { className: "table-scroll", tabindex: 0, role: "region", "aria-label": "Times" },
      table("Times of each test case", columns, rows, "benchmarks"),
    ),
  );
}

function timeCells(result, hasRoof) {
  const isShown = isMeasured(result);
  const cell = (value) => (isShown ? value() : "–");
  return [
    element("strong", {}, cell(() => milliseconds(result.runtime_ms))),
    cell(() => interval(result)),
    trust(result),
    cell(() => spread(result)),
    cell(() => figure(result.gflops)),
    cell(() => figure(result.gbytes_per_second)),
    hasRoof ? cell(() => `${figure(result.percent_of_roof)} %`) : null,
  ];
}

function samples({ samples: count, session_medians_ms: sessions }) {
  return sessions?.length ? `${count} in ${sessions.length}` : String(count);
}

// The timing of a case or of a run; an UNSTABLE time of a device that never ranks has its interval beside the word.
// Runs of older executors call it VALID.
export function timingWord({ timing, shown_interval: half }) {
  if (half && (timing === "VALID" || timing === "UNSTABLE"))
    return `UNSTABLE ± ${Number((100 * half).toPrecision(2))} %`;
  return timing === "UNSPECIFIED" ? "–" : timing;
}

// Words of newer servers are no reason to believe a time.
export function timingKind({ timing, shown_interval: half }) {
  if (half && timing !== "INVALID") return "warn";
  if (timing === "VALID") return "good";
  return timing === "INVALID" || timing === "UNSTABLE" ? "bad" : "warn";
}

// An UNPROVEN or INVALID time is only what a program claims, and is not shown as a time.
// An UNSTABLE run may have cases that are not proven.
export function isMeasured({ timing, unproven_because: because }) {
  return !because && [undefined, null, "UNSPECIFIED", "VALID", "UNSTABLE"].includes(timing);
}

// What a reader must know before believing the time: a word, and the reason when pointed at.
function trust(result) {
  const [word, kind, why] = judgement(result);
  return element("span", { className: `trust ${kind}`, title: why }, word);
}

function judgement(result) {
  const { timing, converged, stopped_by: ended, audit_ratio: ratio, floor_ms: floor } = result;
  const audit = Number.isFinite(ratio) ? `, ${figure(ratio)} times what the judge's clock allows` : "";
  const least = Number.isFinite(floor) ? `; the hardware needs at least ${milliseconds(floor)}` : "";
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

function unstable({ disagreement, ci, runtime_ms: median }) {
  const half = figure((100 * (ci.high_ms - ci.low_ms)) / 2 / median);
  return `Separate processes are ${figure(100 * disagreement)} % apart, and the interval is ± ${half} %: no time to rank`;
}

function interval({ ci, runtime_ms: median }) {
  if (!ci || !Number.isFinite(ci.low_ms) || !median) return "–";
  const half = (100 * (ci.high_ms - ci.low_ms)) / 2 / median;
  return element(
    "span",
    { title: `${milliseconds(ci.low_ms)} to ${milliseconds(ci.high_ms)}` },
    half > 100 ? "over ± 100 %" : `± ${Number(half.toPrecision(2))} %`,
  );
}

function spread({ min_ms: min, max_ms: max, p5_ms: p5, p95_ms: p95, runtime_ms: median, ci }) {
  if (!(max > min)) return "–";
  const place = (value) => 2 + ((WIDTH - 4) * (value - min)) / (max - min);
  const bar = (className, from, to, height) =>
    svg("rect", {
      class: className,
      x: place(from),
      y: (HEIGHT - height) / 2,
      width: Math.max(1, place(to) - place(from)),
      height,
      rx: 2,
    });
  return svg(
    "svg",
    {
      class: "spread",
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
      role: "img",
      "aria-label": `From ${milliseconds(min)} to ${milliseconds(max)}`,
    },
    bar("range", min, max, 2),
    bar("interval", p5, p95, 10),
    svg("rect", { class: "median", x: place(median) - 1.5, y: 2, width: 3, height: HEIGHT - 4, rx: 1.5 }),
    ci ? svg("title", {}, `Bar: 5th to 95th percentile. Line: median.`) : null,
  );
}
