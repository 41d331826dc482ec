// The record of a problem over time, and one's own best.

import { useQuery } from "@tanstack/preact-query";
import type { Schemas } from "../gateway/client";
import * as queries from "../gateway/queries";
import { ago, listed } from "../page/format";
import { Table } from "../page/table";
import { TimeOf, UserOf } from "./ranking";
import { type Steps, stepsOf } from "./record_steps";

const SIZE = { width: 600, height: 120 };
const COLUMNS = [{ title: "When" }, { title: "User" }, { title: "Time", class: "number" }];

export function Records({ query }: { query: queries.RankingQuery }) {
  const { data } = useQuery(queries.records(query));
  // That nobody has a time yet, and how to get one, is said in the ranking.
  if (!data?.records.length) return null;
  const steps = stepsOf([data.records, data.you], Date.now(), SIZE);
  return (
    <section class="card records">
      <h2>{data.ranked ? "Record over time" : "Best time over time"}</h2>
      {steps ? <Plot steps={steps} data={data} /> : null}
      <details>
        <summary>
          Numbers<span class="visually-hidden"> of the record over time</span>
        </summary>
        <Table
          caption={`Records of ${data.problem}, newest first`}
          columns={COLUMNS}
          rows={rowsOf(data.records, data.ranked)}
        />
        {data.you.length ? (
          <>
            <h3>Your own best</h3>
            <Table caption="Your own best, newest first" columns={COLUMNS} rows={rowsOf(data.you, data.ranked)} />
          </>
        ) : null}
      </details>
    </section>
  );
}

function Plot({ steps, data }: { steps: Steps; data: Schemas["RecordHistory"] }) {
  const { begin, low, high, paths } = steps;
  const end = (ms: number) => listed(ms, data.ranked);
  return (
    <>
      <p class="hint">
        {low < high
          ? `From ${end(high)} above to ${end(low)} below, on a logarithmic scale.`
          : `${end(low)} all the time.`}
        {data.you.length ? " The dashed line is your own best." : ""}
      </p>
      <svg
        class="plot"
        viewBox={`0 -6 ${SIZE.width} ${SIZE.height + 12}`}
        role="img"
        aria-label={`The record of ${data.problem} over time; the numbers are below`}
      >
        {paths.map((path, at) => (path ? <path class={at ? "record own" : "record"} key={at} d={path} /> : null))}
      </svg>
      <div class="axis-ends hint">
        <span>{ago(new Date(begin).toISOString())}</span>
        <span>now</span>
      </div>
    </>
  );
}

function rowsOf(records: readonly Schemas["RecordTime"][], isRanked: boolean) {
  return records
    .map((one) => [ago(one.time), <UserOf key="user" {...one} />, <TimeOf key="time" {...one} isRanked={isRanked} />])
    .reverse();
}
