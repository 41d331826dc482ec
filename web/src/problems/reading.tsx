// A problem as whoever has no account may read it.

import { useQuery } from "@tanstack/preact-query";
import { Link } from "wouter-preact";
import * as queries from "../gateway/queries";
import { asksForToken } from "../page/alert";
import { NotFound } from "../page/not_found";
import { pages } from "../pages";
import { Statement } from "../workbench/statement";

export default function Reading({ slug }: { slug: string }) {
  const { data: problem, error } = useQuery(queries.problem(slug, ""));
  if (error && (error as { status?: number }).status === 404)
    return (
      <NotFound what={`There is no problem ${slug}.`}>
        <Link href={pages.problems}>Go to the problems</Link>
      </NotFound>
    );
  if (!problem) return <main class="page" aria-busy="true" />;
  return (
    <main class="page">
      <div class="page-head">
        <h1>{problem.title}</h1>
        <button
          id="read-sign-in"
          class="button primary"
          type="button"
          onClick={() => {
            asksForToken.value = "";
          }}
        >
          Sign in to write its kernel
        </button>
      </div>
      <div class="card">
        <Statement problem={problem} dtype="" gpuType="" />
      </div>
    </main>
  );
}
