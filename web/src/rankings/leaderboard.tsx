// The page of rankings: of which problem, and measured in which way.

import { useQuery } from "@tanstack/preact-query";
import { Link, useSearchParams } from "wouter-preact";
import { navigate } from "wouter-preact/use-browser-location";
import * as queries from "../gateway/queries";
import { leaderboardAddress, problemAddress } from "../page/addresses";
import { NotFound } from "../page/not_found";
import { Select } from "../page/select";
import * as store from "../page/store";
import { pages } from "../pages";
import { CPU_NAMES, TIMINGS } from "../request/words";
import { Ranking, rankingQueryOf, type Way } from "./ranking";
import { Records } from "./records";

const MODES_OF_TIMING = ["cold", "hot", "first-call"] as const;

export default function Leaderboard({ problem = "" }: { problem?: string }) {
  const [query] = useSearchParams();
  const problems = useQuery(queries.problems).data?.problems;
  const slug = problem || store.lastProblem() || problems?.[0]?.slug || "";
  const said = (name: string) => query.get(name) ?? "";
  const way = { gpuType: said("gpu"), dtype: said("dtype"), timing: said("timing") };
  const go = (place: string, { gpuType: gpu, dtype, timing }: Way) =>
    navigate(leaderboardAddress(place, { gpu, dtype, timing }), { replace: true });
  const { error } = useQuery({ ...queries.ranking(rankingQueryOf(slug, way)), enabled: slug !== "" });
  if ((error as { status?: number } | null)?.status === 404)
    return (
      <NotFound what={`There is no problem ${slug}.`}>
        <Link href={pages.problems}>Go to the problems</Link>
      </NotFound>
    );
  return (
    <main class="page">
      <div class="page-head">
        <h1>Leaderboard</h1>
        {slug ? <Link href={problemAddress(slug)}>Open the problem</Link> : null}
      </div>
      <search class="filters">
        <label>
          <span class="field-label">Problem</span>
          <select
            id="search"
            value={slug}
            onChange={({ currentTarget }) => go(currentTarget.value, { ...way, dtype: "" })}
          >
            {(problems ?? []).map((one) => (
              <option value={one.slug} key={one.slug}>
                {one.title}
              </option>
            ))}
          </select>
        </label>
        <Ways
          dtypes={problems?.find((one) => one.slug === slug)?.dtypes ?? []}
          way={way}
          onChange={(changes) => go(slug, { ...way, ...changes })}
        />
      </search>
      <div class="card">{slug ? <Ranking slug={slug} {...way} /> : null}</div>
      {slug ? <Records query={rankingQueryOf(slug, way)} /> : null}
    </main>
  );
}

// How the times were measured: only those that were measured alike rank together.
function Ways({
  dtypes,
  way,
  onChange,
}: {
  dtypes: readonly string[];
  way: Way;
  onChange: (changes: Partial<Way>) => void;
}) {
  const gpuTypes = useQuery(queries.gpuTypes).data ?? [];
  return (
    <>
      <Select
        name="GPU"
        value={way.gpuType}
        options={[...gpuTypes.slice(1), queries.CPU]}
        names={CPU_NAMES}
        anyway={gpuTypes[0] ?? "Default"}
        onChange={(gpuType) => onChange({ gpuType })}
      />
      <Select
        name="Element type"
        value={way.dtype}
        options={dtypes.slice(1)}
        anyway={dtypes[0] ?? "Default"}
        onChange={(dtype) => onChange({ dtype })}
      />
      <Select
        name="Timing"
        value={way.timing}
        options={MODES_OF_TIMING}
        names={TIMINGS}
        anyway="The GPU's own way"
        onChange={(timing) => onChange({ timing })}
      />
    </>
  );
}
