// The roofline of a run: its cases against the device's peaks, and what bounds them.

import { figure, isNumber } from "../page/format";
import { Table } from "../page/table";
import { known } from "./case_times";
import type { Benchmark } from "./frames";
import { type Chart, chartOf, type Point, pointsOf, roofsOf } from "./roofline";

const SIZE = { width: 600, height: 300, left: 56, right: 12, top: 12, bottom: 40 };
const BOUNDS: Record<string, string> = {
  MEMORY: "moving bytes to and from memory",
  COMPUTE: "arithmetic",
  LAUNCH: "launching kernels",
};
const COLUMNS = ["Case", "FLOP / byte", "GFLOP/s", "GB/s", "Bound by", "Of roof"].map((title, at) => ({
  title,
  class: at === 0 || at === 4 ? "" : "number",
}));

export function Roofline({ results }: { results: Benchmark[] }) {
  const bounded = results.filter(({ bound, percent_of_roof: share }) => bound && isNumber(share));
  if (!bounded.length) return null;
  const points = pointsOf(bounded);
  const roofs = roofsOf(bounded);
  const chart = chartOf(points, roofs);
  return (
    <figure class="roofline">
      <figcaption>
        <strong>Roofline</strong> {bounded.map(sentence).join(" ")}
      </figcaption>
      {chart ? <Plot chart={chart} points={points} /> : null}
      {chart ? <p class="hint">{legend(roofs)}</p> : null}
      <details>
        <summary>
          Numbers<span class="visually-hidden"> of the roofline</span>
        </summary>
        <Table caption="What bounds each case" columns={COLUMNS} rows={bounded.map(cells)} />
      </details>
    </figure>
  );
}

function Plot({ chart, points }: { chart: Chart; points: Point[] }) {
  const at = ({ x, y }: { x: number; y: number }): [number, number] => [
    SIZE.left + (SIZE.width - SIZE.left - SIZE.right) * x,
    SIZE.top + (SIZE.height - SIZE.top - SIZE.bottom) * y,
  ];
  const [bottom, right] = [SIZE.height - SIZE.bottom, SIZE.width - SIZE.right];
  return (
    <svg
      class="plot"
      viewBox={`0 0 ${SIZE.width} ${SIZE.height}`}
      role="img"
      aria-label="Roofline; the numbers are below"
    >
      {chart.ticks.x.map((tick) => {
        const [x] = at(chart.place(tick, 1));
        return [
          <path class="grid" key={tick} d={`M${x} ${SIZE.top}V${bottom}`} />,
          <text key={`${tick}-name`} x={x} y={bottom + 16} text-anchor="middle">
            {figure(tick)}
          </text>,
        ];
      })}
      {chart.ticks.y.map((tick) => {
        const [, y] = at(chart.place(1, tick));
        return [
          <path class="grid" key={tick} d={`M${SIZE.left} ${y}H${right}`} />,
          <text key={`${tick}-name`} x={SIZE.left - 6} y={y + 4} text-anchor="end">
            {figure(tick)}
          </text>,
        ];
      })}
      <text x={right} y={SIZE.height - 6} text-anchor="end">
        FLOP / byte; upwards GFLOP/s
      </text>
      <path class="roof" d={`M${chart.roof.map((corner) => at(corner).join(" ")).join("L")}`} />
      {points.map(({ name, intensity, gflops }) => {
        const [x, y] = at(chart.place(intensity, gflops));
        return (
          <circle class="case" key={name} cx={x} cy={y} r={5}>
            <title>{name}</title>
          </circle>
        );
      })}
    </svg>
  );
}

function sentence(result: Benchmark): string {
  return `${result.name} is bound by ${boundName(result.bound)}, at ${known(result, result.percent_of_roof)} % of the roof.`;
}

function boundName(bound: string | null): string {
  return BOUNDS[bound ?? ""] ?? bound ?? "";
}

function legend({ gbytesPerSecond: rate, gflops }: ReturnType<typeof roofsOf>): string {
  const known = [
    rate === null ? "" : `slope: ${figure(Number(rate.toPrecision(3)))} GB/s`,
    gflops === null ? "" : `flat: ${figure(Number(gflops.toPrecision(3)))} GFLOP/s`,
  ].filter(Boolean);
  const missing = rate === null ? "memory" : "arithmetic";
  const note = known.length < 2 ? ` No case of this run tells the roof of ${missing}.` : "";
  return `The line is what the device allows (${known.join(", ")}), dots are cases.${note}`;
}

function cells(result: Benchmark): string[] {
  const { name, gflops, gbytes_per_second: rate, bound, percent_of_roof: share } = result;
  return [
    name,
    gflops > 0 && rate > 0 ? figure(Number((gflops / rate).toPrecision(3))) : "–",
    known(result, gflops),
    known(result, rate),
    boundName(bound),
    `${known(result, share)} %`,
  ];
}
