// What a run's event stream sends, as the gateway's document has it. Others may follow: words are shown as they come.

import type { Schemas } from "../gateway/client";

export type Frame = Schemas["SubmissionEvent"];
// The last one.
export type Ended = Schemas["EndedEvent"];
export type Compiled = Schemas["CompiledEvent"];
export type TestResult = Schemas["TestOutcome"];
export type Benchmark = Schemas["CaseTime"];
export type OutputLine = Pick<Schemas["SandboxOutputEvent"], "stream" | "line">;

// Of a run, of a case, or of a submission in a list.
export interface Timing {
  timing?: string | null;
  shown_interval?: number | null;
}
