// The best proven times of a problem that were measured in one way.

import { useQuery } from "@tanstack/preact-query";
import { Link } from "wouter-preact";
import type { Schemas } from "../gateway/client";
import * as queries from "../gateway/queries";
import { submissionAddress } from "../page/addresses";
import { ago, milliseconds } from "../page/format";
import { Table } from "../page/table";

const COLUMNS = [
  { title: "Rank", class: "number" },
  { title: "User" },
  { title: "Time", class: "number" },
  { title: "Times counted", class: "number optional" },
  { title: "When", class: "number" },
];

export interface Way {
  gpuType: string;
  dtype: string;
  timing: string;
}

export function Ranking({ slug, gpuType, dtype, timing }: Way & { slug: string }) {
  const query: queries.RankingQuery = {
    problem: slug,
    gpu_type: gpuType,
    dtype,
    ...(timing ? { timing: timing as Schemas["TimingMode"] } : {}),
  };
  const { data } = useQuery(queries.ranking(query));
  if (!data) return <p class="empty">Reading the times…</p>;
  const isFurtherDown = data.you && !data.rankings.some(({ is_you }) => is_you);
  return (
    <>
      <p class="hint">{described(data)}</p>
      {data.rankings.length ? (
        <Table
          caption={`Best times for ${data.problem}`}
          class="ranking"
          columns={COLUMNS}
          rows={[...data.rankings, ...(isFurtherDown && data.you ? [data.you] : [])].map(cells)}
        />
      ) : (
        <p class="empty">
          Nobody has a proven time here yet. A time counts if its submission ran in mode full, was accepted, and its
          timing is VALID.
        </p>
      )}
    </>
  );
}

function described({ gpu_type: gpu, dtype, timing_mode: timing, users, ranked }: Schemas["Ranking"]): string {
  const times = `${users} ${users === 1 ? "user has" : "users have"} a time on ${gpu} in ${dtype}, ${timing ?? "default"} timing.`;
  return ranked ? times : `${times} These times do not rank: they say nothing about a GPU, and their machines differ.`;
}

function cells(one: Schemas["RankedTime"]) {
  const time = milliseconds(one.runtime_ms);
  return [
    one.rank ?? "–",
    one.is_you ? <strong key="user">{one.user} (you)</strong> : one.user,
    one.submission_id ? (
      <Link key="time" href={submissionAddress(one.submission_id)}>
        {time}
      </Link>
    ) : (
      time
    ),
    one.timings,
    ago(one.end_time),
  ];
}
