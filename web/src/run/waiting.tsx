// A run that has not begun: when it will, what it waits for, and how far its machine has come.

import { useQuery } from "@tanstack/preact-query";
import type { Schemas } from "../gateway/client";
import * as queries from "../gateway/queries";
import { useNow } from "../page/now";
import type { Run } from "./run_state";
import { startFacts, startingWords, startsWords } from "./wait_words";

const TICK_MS = 1000;
// Most runs have begun before anybody asks why they wait.
const WHY_AFTER_SECONDS = 5;
const READY = "ready";
const KINDS = { COLD_START: "Cold start", WARM_REUSE: "Warm machine" };

export function Waiting({ run }: { run: Run }) {
  const active = run.final ? "" : run.stages.find(({ state }) => state === "active")?.name;
  if (active === "Queue" && run.queued) return <Queued frame={run.queued} offsetMs={run.clockOffsetMs} />;
  if (active === "Machine" && run.starting) return <Starting frame={run.starting} offsetMs={run.clockOffsetMs} />;
  return null;
}

function Queued({ frame, offsetMs }: { frame: Schemas["InQueueEvent"]; offsetMs: number }) {
  const now = useNow(TICK_MS);
  const passed = passedSeconds(frame.timestamp, now, offsetMs);
  const { data: why, dataUpdatedAt } = useQuery(queries.why(frame.id, passed > WHY_AFTER_SECONDS));
  const { eta_p50_seconds: p50Seconds, eta_p90_seconds: p90Seconds } = why ?? frame;
  const sinceEstimate = why ? (now - dataUpdatedAt) / 1000 : passed;
  return (
    <div id="waiting" class="wait-card">
      <p id="starts">{startsWords({ p50Seconds, p90Seconds }, sinceEstimate)}</p>
      {why?.reason ? (
        <p id="why">
          {why.reason}
          {why.remedy ? ` To free it: ${why.remedy}` : ""}
        </p>
      ) : null}
    </div>
  );
}

function Starting({ frame, offsetMs }: { frame: Schemas["ProvisioningEvent"]; offsetMs: number }) {
  const { vm_state: kind, stage, machine, estimate_seconds: p50Seconds, estimate_p90_seconds: p90Seconds } = frame;
  const start = kind === "COLD_START" && stage !== READY ? { limitSeconds: frame.start_limit_seconds } : undefined;
  const now = useNow(TICK_MS);
  const passed = frame.elapsed_seconds + passedSeconds(frame.timestamp, now, offsetMs);
  return (
    <div id="machine-start" class="wait-card">
      <p>
        <strong>{kind ? (KINDS[kind] ?? kind) : "Machine"}</strong>
        {startFacts(stage, machine)}
      </p>
      {p50Seconds ? <progress aria-label="Start of the machine" max={p90Seconds ?? p50Seconds} value={passed} /> : null}
      <p id="machine-time">{startingWords({ p50Seconds, p90Seconds }, passed, start)}</p>
      {kind === "COLD_START" ? (
        <p class="hint">The machine stays on for a while after this run, so the next one may start sooner.</p>
      ) : null}
    </div>
  );
}

// By the server's clock, whose offset is not known before its first frame.
function passedSeconds(beginMs: number, nowMs: number, offsetMs: number): number {
  return Math.max(0, (nowMs - (Number.isFinite(offsetMs) ? offsetMs : 0) - beginMs) / 1000);
}
