// A list of submissions.

import { Link } from "wouter-preact";
import type { Schemas } from "../gateway/client";
import { workbenchAddress } from "../page/addresses";
import { ago, dollars } from "../page/format";
import { Table } from "../page/table";
import { modeName } from "../request/words";
import { endKind, endTitle, statusTitle } from "./verdicts";

const COLUMNS = [
  { title: "Submission" },
  { title: "What" },
  { title: "Result" },
  { title: "Cost", class: "number" },
  { title: "When", class: "number" },
];

// `isOfProblem`: all are of one problem, so its name says nothing.
export function History({
  submissions,
  isOfProblem = false,
  empty = "You have submitted nothing yet.",
}: {
  submissions: readonly Schemas["Submission"][];
  isOfProblem?: boolean;
  empty?: string;
}) {
  if (!submissions.length) return <p class="empty">{empty}</p>;
  const rows = submissions.map(({ id, problem, name, mode, cost_usd: cost, create_time: time, ...ends }) => [
    <Link key="link" href={workbenchAddress({ id, problem, mode })}>
      {isOfProblem ? name || modeName(mode) : problem || name || "sandbox program"}
      {problem && name && !isOfProblem ? <span class="hint"> {name}</span> : null}
      <span class="visually-hidden">, {id}</span>
    </Link>,
    modeName(mode),
    <Badge key="badge" {...ends} />,
    dollars(cost),
    ago(time),
  ]);
  return <Table caption="Submissions" columns={COLUMNS} rows={rows} />;
}

type Ends = Pick<Schemas["Submission"], "status" | "state" | "timing_status" | "shown_interval">;

export function Badge({ status, state, timing_status: timing, shown_interval }: Ends) {
  if (!status) return <span class="badge live">{statusTitle(state)}</span>;
  return (
    <span class={`badge ${endKind(status, { timing, shown_interval })}`}>
      {endTitle(status, { timing, shown_interval })}
    </span>
  );
}
