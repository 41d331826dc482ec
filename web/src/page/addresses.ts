// Addresses of this page, and what they bring.

import type { Brought } from "../gateway/sign_in";
import { pages } from "../pages";

export function problemAddress(slug: string, submissionId = ""): string {
  const query = submissionId ? `?${new URLSearchParams({ submission: submissionId })}` : "";
  return pages.problem.replace(":slug", encodeURIComponent(slug)) + query;
}

// Of a whole program, which has no problem.
export function sandboxAddress(submissionId = ""): string {
  return submissionId ? `${pages.sandbox}?${new URLSearchParams({ submission: submissionId })}` : pages.sandbox;
}

// The workbench with a submission of before.
export function workbenchAddress({
  id,
  problem,
  mode,
}: {
  id: string;
  problem: string | undefined;
  mode: string;
}): string {
  if (mode === "sandbox") return sandboxAddress(id);
  return problem ? problemAddress(problem, id) : submissionAddress(id);
}

export function submissionAddress(id: string): string {
  return pages.submission.replace(":id", encodeURIComponent(id));
}

export function userAddress(name: string): string {
  return pages.user.replace(":name", encodeURIComponent(name));
}

// `way` is how the times were measured, by the names in the address; what is empty is the default.
export function leaderboardAddress(slug: string, way: Record<string, string> = {}): string {
  const query = new URLSearchParams(Object.entries(way).filter(([, value]) => value));
  return pages.problemLeaderboard.replace(":slug", encodeURIComponent(slug)) + (query.size ? `?${query}` : "");
}

// Without `other` it is still to be chosen.
export function compareAddress(base: string, other = ""): string {
  return `${pages.compare}?${new URLSearchParams(other ? { base, other } : { base })}`;
}

// What a link brings leaves the address at once; what else is behind the `#` stays.
export function takeBrought(): Brought | null {
  const fields = new URLSearchParams(location.hash.slice(1));
  const [link, token] = [fields.get("link") ?? "", fields.get("token") ?? ""];
  if (!link && !token) return null;
  for (const name of ["link", "token"]) fields.delete(name);
  history.replaceState(history.state, "", location.pathname + location.search + (fields.size ? `#${fields}` : ""));
  return { link, token };
}

// Links of before named what they showed behind the `#`; null if this is none.
export function addressOfOldLink(hash: string): string | null {
  const fields = new URLSearchParams(hash.slice(1));
  const [problem, job] = [fields.get("problem") ?? "", fields.get("job") ?? ""];
  if (problem) return problemAddress(problem, job);
  return job ? submissionAddress(job) : null;
}
