// A submission's run as it goes on, and what its owner can do with it.

import { api, type Schemas } from "../gateway/client";
import { follow } from "../gateway/event_stream";
import { download } from "../gateway/ticket";
import { afterFrame, emptyRun, type Run } from "./run_state";
import { isGood } from "./verdicts";

export type Followed = Pick<Schemas["Submission"], "id" | "mode" | "fallback_gpu_types" | "profile">;

// A program may print faster than line by line can be drawn.
const DRAW_OUTPUT_EVERY_MS = 50;

// Shows the run from its first frame to its last, or until it is aborted.
export async function followRun(
  { id, mode, fallback_gpu_types: fallbacks, profile }: Followed,
  show: (run: Run) => void,
  signal: AbortSignal,
): Promise<Run> {
  let run = emptyRun(mode, fallbacks, profile);
  show(run);
  let timer: ReturnType<typeof setTimeout> | undefined;
  const draw = () => {
    clearTimeout(timer);
    timer = undefined;
    if (!signal.aborted) show(run);
  };
  await follow(
    id,
    (frame, arrivedMs) => {
      run = afterFrame(run, frame, arrivedMs, isGood);
      if (frame.status === "SANDBOX_OUTPUT") timer ??= setTimeout(draw, DRAW_OUTPUT_EVERY_MS);
      else draw();
    },
    signal,
  );
  return run;
}

export async function cancel(id: string): Promise<void> {
  await api.POST("/api/v1/submissions/{submission_id}/cancel", { params: { path: { submission_id: id } } });
}

export async function downloadReport(id: string): Promise<void> {
  await download(`/api/v1/submissions/${encodeURIComponent(id)}/report`, `${id}.json`);
}
