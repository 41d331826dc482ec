// What is not there, with a way on.

import type { ComponentChildren } from "preact";
import { Link } from "wouter-preact";
import { pages } from "../pages";

export function noSubmission(id: string): string {
  return `There is no submission ${id} that you may see.`;
}

export function NotFound({ what, children }: { what: string; children?: ComponentChildren }) {
  return (
    <main class="notice card">
      <h1>Not found</h1>
      <p>{what}</p>
      <p>{children ?? <Link href={pages.home}>Go to the first page</Link>}</p>
    </main>
  );
}
