// The application: its pages by their addresses, and what is on each of them.

import { QueryClientProvider, useQuery } from "@tanstack/preact-query";
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { Route, Switch, useSearch, useSearchParams } from "wouter-preact";
import { usePathname } from "wouter-preact/use-browser-location";
import { watch } from "./gateway/event_stream";
import { ASIDE, noteSubmission, problem, queries, signInOptions } from "./gateway/queries";
import { when } from "./page/action";
import { alert, asksForToken, hasToken } from "./page/alert";
import { Header } from "./page/header";
import { Keys } from "./page/keys";
import { later } from "./page/later";
import { NotFound } from "./page/not_found";
import { Offline } from "./page/offline";
import { TokenDialog } from "./page/token_dialog";
import { pages } from "./pages";

const Home = later(() => import("./home/home"));
const Workbench = later(() => import("./workbench/workbench"));
const Leaderboard = later(() => import("./rankings/leaderboard"));
const SubmissionList = later(() => import("./submissions/submission_list"));
const Sandbox = later(() => import("./workbench/sandbox"));
const Reading = later(() => import("./problems/reading"));
const ProblemList = later(() => import("./problems/problem_list"));
const Result = later(() => import("./result/result_page"));
const Profile = later(() => import("./users/profile_page"));
const Compare = later(() => import("./compare/compare_page"));
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
      <Header />
      <Alert />
      <Offline />
      <Switch>
        <Route path={pages.home}>
          <Home />
        </Route>
        <Route path={pages.problems}>
          <OfReader>
            <ProblemList />
          </OfReader>
        </Route>
        <Route path={pages.leaderboard}>
          <OfUser>
            <Leaderboard />
          </OfUser>
        </Route>
        <Route path={pages.problemLeaderboard}>
          {({ slug }) => (
            <OfUser>
              <Leaderboard problem={decodeURIComponent(slug)} />
            </OfUser>
          )}
        </Route>
        <Route path={pages.problem}>{({ slug }) => <Problem slug={slug} />}</Route>
        <Route path={pages.sandbox}>
          <OfUser>
            <Program />
          </OfUser>
        </Route>
        <Route path={pages.submissions}>
          <OfUser>
            <SubmissionList />
          </OfUser>
        </Route>
        <Route path={pages.submission}>
          {({ id }) => (
            <OfUser>
              <Result id={decodeURIComponent(id)} />
            </OfUser>
          )}
        </Route>
        <Route path={pages.user}>
          {({ name }) => (
            <OfUser>
              <Profile name={decodeURIComponent(name)} />
            </OfUser>
          )}
        </Route>
        <Route path={pages.compare}>
          <OfUser>
            <Compare />
          </OfUser>
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
  const name = decodeURIComponent(slug);
  // It comes while the files of the page do; who fails says so there.
  useEffect(() => {
    if (hasToken.value) void queries.prefetchQuery({ ...problem(name, ""), meta: ASIDE });
  }, [name]);
  return (
    <OfReader>
      {hasToken.value ? (
        <Workbench slug={name} submissionId={query.get("submission") ?? ""} />
      ) : (
        <Reading slug={name} />
      )}
    </OfReader>
  );
}

function Program() {
  const [query] = useSearchParams();
  return <Sandbox submissionId={query.get("submission") ?? ""} />;
}

// Problems may be public.
function OfReader({ children }: { children: ComponentChildren }) {
  const isUser = hasToken.value;
  const { data, error } = useQuery({ ...signInOptions, enabled: !isUser });
  if (isUser || data?.public_problems) return children;
  return data || error ? <OfUser>{children}</OfUser> : <main aria-busy="true" />;
}

// Nothing is shown of a page that only users may see until somebody has signed in.
function OfUser({ children }: { children: ComponentChildren }) {
  const isUser = hasToken.value;
  useEffect(() => {
    if (!isUser) asksForToken.value ??= "";
  }, [isUser]);
  return isUser ? children : <Home />;
}

function Alert() {
  const failure = alert.value;
  const place = usePathname() + useSearch();
  const shown = useRef(place);
  // It is about what was asked for at an address that is left.
  useLayoutEffect(() => {
    if (place !== shown.current) alert.value = null;
    shown.current = place;
  }, [place]);
  return (
    <div id="alert" class="alert" role="alert" hidden={!failure}>
      {failure ? [failure.message, when(failure, Date.now())].join(" ") : null}
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
