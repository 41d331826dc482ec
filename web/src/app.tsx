// The application: its pages by their addresses, and what is on each of them.

import { QueryClientProvider } from "@tanstack/preact-query";
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { Route, Switch, useSearchParams } from "wouter-preact";
import { navigate } from "wouter-preact/use-browser-location";
import { watch } from "./gateway/event_stream";
import { noteSubmission, queries } from "./gateway/queries";
import { problemAddress } from "./page/addresses";
import { alert, asksForToken, hasToken } from "./page/alert";
import { Header } from "./page/header";
import { Keys } from "./page/keys";
import { later } from "./page/later";
import { NotFound } from "./page/not_found";
import * as store from "./page/store";
import { TokenDialog } from "./page/token_dialog";
import { pages } from "./pages";

const Workbench = later(() => import("./workbench/workbench"));
const ProblemList = later(() => import("./problems/problem_list"));
const Documentation = later(() => import("./docs/documentation"));

export function App() {
  const isUser = hasToken.value;
  useEffect(() => {
    const watching = new AbortController();
    if (isUser) watch(noteSubmission, watching.signal);
    return () => watching.abort();
  }, [isUser]);
  return (
    <QueryClientProvider client={queries}>
      <a class="skip-link" href="#code">
        Skip to the editor
      </a>
      <Header />
      <Alert />
      <Switch>
        <Route path={pages.home}>
          <OfUser>
            <Home />
          </OfUser>
        </Route>
        <Route path={pages.problems}>
          <OfUser>
            <ProblemList />
          </OfUser>
        </Route>
        <Route path={pages.problem}>{({ slug }) => <Problem slug={slug} />}</Route>
        <Route path={pages.submission}>
          {({ id }) => (
            <OfUser>
              <Workbench slug="" submissionId={id} />
            </OfUser>
          )}
        </Route>
        <Route path={pages.documentation} component={Documentation} />
        <Route>
          <NotFound what="There is no page at this address." />
        </Route>
      </Switch>
      <TokenDialog />
      <Keys />
    </QueryClientProvider>
  );
}

function Problem({ slug }: { slug: string }) {
  const [query] = useSearchParams();
  return (
    <OfUser>
      <Workbench slug={decodeURIComponent(slug)} submissionId={query.get("submission") ?? ""} />
    </OfUser>
  );
}

// Goes on with the problem that was shown last.
function Home() {
  useEffect(() => {
    const last = store.lastProblem();
    navigate(last ? problemAddress(last) : pages.problems, { replace: true });
  }, []);
  return <main />;
}

// Nothing is shown of a page that only users may see until somebody has signed in.
function OfUser({ children }: { children: ComponentChildren }) {
  const isUser = hasToken.value;
  useEffect(() => {
    if (!isUser) asksForToken.value ??= "";
  }, [isUser]);
  return isUser ? children : <Welcome />;
}

function Welcome() {
  return (
    <main class="notice card">
      <h1>Wavepool</h1>
      <p>
        Write HIP kernels here, run them on pooled MI300X machines, and see whether they are right, how fast they are,
        and why.
      </p>
    </main>
  );
}

function Alert() {
  const failure = alert.value;
  return (
    <div id="alert" class="alert" role="alert" hidden={!failure}>
      {failure?.message}
      {failure?.fields.length ? (
        <ul>
          {failure.fields.map(({ field, message }) => (
            <li key={`${field} ${message}`}>{`${field}: ${message}`}</li>
          ))}
        </ul>
      ) : null}
    </div>
  );
}
