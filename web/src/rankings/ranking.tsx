// The best proven times of a problem that were measured in one way.

import { useQuery } from "@tanstack/preact-query";
import { Link } from "wouter-preact";
import type { Schemas } from "../gateway/client";
import * as queries from "../gateway/queries";
import { submissionAddress, userAddress } from "../page/addresses";
import { ago, listed } from "../page/format";
import { Table } from "../page/table";

const COLUMNS = [
  { title: "Rank", class: "number" },
  { title: "User" },
  { title: "Time", class: "number" },
  { title: "Times counted", class: "number" },
  { title: "When", class: "number" },
];

export interface Way {
  gpuType: string;
  dtype: string;
  timing: string;
}

export function rankingQueryOf(slug: string, { gpuType, dtype, timing }: Way): queries.RankingQuery {
  return {
    problem: slug,
    gpu_type: gpuType,
    dtype,
    ...(timing ? { timing: timing as Schemas["TimingMode"] } : {}),
  };
}

export function Ranking({ slug, gpuType, dtype, timing }: Way & { slug: string }) {
  const { data, error } = useQuery(queries.ranking(rankingQueryOf(slug, { gpuType, dtype, timing })));
  if (error) return <p class="empty">The times could not be read: {error.message}</p>;
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
          timing is VALID; on cpu, where no time ranks, an UNSTABLE one counts as well.
        </p>
      )}
    </>
  );
}

function described({ gpu_type: gpu, dtype, timing_mode: timing, users, ranked, rankings }: Schemas["Ranking"]): string {
  const shown = rankings.length < users ? ` The first ${rankings.length} of ${users} are shown.` : "";
  const times = `${users} ${users === 1 ? "user has" : "users have"} a time on ${gpu} in ${dtype}, ${timing ?? "default"} timing.${shown}`;
  return ranked ? times : `${times} These times do not rank: they say nothing about a GPU, and their machines differ.`;
}

function cells(one: Schemas["RankedTime"]) {
  return [
    one.rank ?? "–",
    <UserOf key="user" {...one} />,
    <TimeOf key="time" {...one} isRanked={one.rank !== null} />,
    one.timings,
    ago(one.end_time),
  ];
}

// Of a time whose user is gone.
const UNKNOWN = "(unknown)";

export function UserOf({ user, is_you: isYou }: Pick<Schemas["RankedTime"], "user" | "is_you">) {
  if (user === UNKNOWN) return user;
  const link = <Link href={userAddress(user)}>{user}</Link>;
  return isYou ? <strong>{link} (you)</strong> : link;
}

export function TimeOf({
  runtime_ms: ms,
  runtime_interval: interval,
  submission_id: id,
  isRanked,
}: Pick<Schemas["RankedTime"], "runtime_ms" | "runtime_interval" | "submission_id"> & { isRanked: boolean }) {
  const time = listed(ms, isRanked, interval);
  return id ? <Link href={submissionAddress(id)}>{time}</Link> : time;
}
