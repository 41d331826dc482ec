// The first page: what Wavepool is, or where its user was.

import { useQuery } from "@tanstack/preact-query";
import { Link } from "wouter-preact";
import * as queries from "../gateway/queries";
import { problemAddress } from "../page/addresses";
import { asksForToken, hasToken } from "../page/alert";
import { dollars, seconds } from "../page/format";
import { later } from "../page/later";
import * as store from "../page/store";
import { pages } from "../pages";
import { History } from "../run/history";

// What is said first is read before it is here.
const SampleResult = later(() => import("./sample_result"), <p class="empty">Reading a sample result…</p>);

export default function Home() {
  return hasToken.value ? <Dashboard /> : <Welcome />;
}

function Welcome() {
  const isPublic = useQuery(queries.signInOptions).data?.public_problems;
  return (
    <main class="page welcome">
      <div class="card">
        <h1>Wavepool</h1>
        <p>
          Write HIP kernels here, run them on pooled MI300X machines, and see whether they are right, how fast they are,
          and why.
        </p>
        <ul>
          <li>Each kernel is checked against a reference, on cases that it does not choose.</li>
          <li>A time ranks only if it is proven: measured in several sessions, with an interval, and audited.</li>
          <li>What the MI300X would make of it is shown line by line: instructions, registers, LDS, occupancy.</li>
          <li>
            You pay for the seconds that a GPU works for you, and see the most that a run can cost before it starts.
          </li>
        </ul>
        <p class="welcome-actions">
          <button
            id="welcome-sign-in"
            class="button primary"
            type="button"
            onClick={() => {
              asksForToken.value = "";
            }}
          >
            Sign in
          </button>
          {isPublic ? <Link href={pages.problems}>Read the problems</Link> : null}
          <Link href={pages.documentation}>The interface for programs</Link>
        </p>
      </div>
      <SampleResult />
    </main>
  );
}

function Dashboard() {
  const newest = useQuery(queries.newestSubmissions).data?.submissions;
  const last = store.lastProblem();
  return (
    <main class="page">
      <div class="page-head">
        <h1>Your work</h1>
      </div>
      <div class="cards">
        <section class="card">
          <h2>Go on</h2>
          {last ? (
            <p>
              <Link id="go-on" href={problemAddress(last)}>
                {last}
              </Link>
              , the problem that you had open last
            </p>
          ) : (
            <p>Choose a problem, write its kernel, and run it. The first one takes a minute.</p>
          )}
          <p>
            <Link href={pages.problems}>All problems</Link> · <Link href={pages.sandbox}>A program of your own</Link>
          </p>
        </section>
        <Credit />
        <Limits />
      </div>
      <section class="card">
        <h2>Your newest submissions</h2>
        {newest ? <History submissions={newest} /> : <p class="empty">Reading your submissions…</p>}
        <p>
          <Link href={pages.submissions}>All submissions</Link>
        </p>
      </section>
    </main>
  );
}

function Credit() {
  const { data } = useQuery(queries.costs);
  return (
    <section class="card">
      <h2>Credit</h2>
      {data ? (
        <dl class="sums">
          <dt>To spend</dt>
          <dd>{dollars(data.available_usd)}</dd>
          <dt>On hold for what runs</dt>
          <dd>{dollars(data.held_usd)}</dd>
          <dt>Charged so far</dt>
          <dd>{dollars(data.charged_usd)}</dd>
        </dl>
      ) : null}
      {data && data.available_usd <= 0 ? <p>Nothing is left to run with. Ask your operator for a grant.</p> : null}
    </section>
  );
}

function Limits() {
  const { data } = useQuery(queries.limits);
  const wait = data?.renew_after_seconds;
  return (
    <section class="card">
      <h2>What the limits leave</h2>
      {data ? (
        <dl class="sums">
          <dt>More submissions now</dt>
          <dd>{data.remaining_submissions}</dd>
          <dt>Under way</dt>
          <dd>
            {data.jobs_in_flight} of {data.max_jobs_in_flight}
          </dd>
          {data.max_submissions_per_hour === null ? null : (
            <>
              <dt>In the last hour</dt>
              <dd>
                {data.submissions_in_last_hour} of {data.max_submissions_per_hour}
              </dd>
            </>
          )}
        </dl>
      ) : null}
      {data && !data.remaining_submissions && wait !== null ? <p>One more in {seconds(wait)}.</p> : null}
    </section>
  );
}
