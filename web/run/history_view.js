// The account's recent submissions.

import { element, table } from "../page/dom.js";
import { ago, dollars } from "../page/format.js";
import { endTitle, statusKind } from "./outcome_view.js";

export function historyTable(submissions, onOpen) {
  if (!submissions.length) return element("p", { className: "empty" }, "Nothing yet.");
  const columns = [
    { title: "Submission" },
    { title: "What", className: "optional" },
    { title: "Result" },
    { title: "Cost", className: "number optional" },
    { title: "When", className: "number" },
  ];
  const rows = submissions.map((submission) => [
    element(
      "button",
      { type: "button", className: "link-button", onclick: () => onOpen(submission) },
      submission.problem || submission.name || "sandbox program",
      submission.problem && submission.name ? element("span", { className: "hint" }, ` ${submission.name}`) : null,
      element("span", { className: "visually-hidden" }, `, ${submission.id}`),
    ),
    submission.mode,
    badge(submission),
    dollars(submission.cost_usd),
    ago(submission.create_time),
  ]);
  return table("Recent submissions", columns, rows);
}

function badge({ status, state, timing_status: timing, shown_interval }) {
  if (!status) return element("span", { className: "badge live" }, state.toLowerCase());
  return element("span", { className: `badge ${statusKind(status)}` }, endTitle(status, { timing, shown_interval }));
}
