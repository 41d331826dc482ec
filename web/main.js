// The page: ties the problem, the editor, the run and the history together.

import { Editor } from "./editor/editor.js";
import { ApiError, call } from "./gateway/api.js";
import { follow } from "./gateway/event_stream.js";
import * as signIn from "./gateway/sign_in.js";
import { TokenDialog } from "./gateway/token_dialog.js";
import { byId, element } from "./page/dom.js";
import { dollars } from "./page/format.js";
import { rendered } from "./page/markdown.js";
import * as session from "./page/session.js";
import { applyTheme, switchTheme } from "./page/theme.js";
import * as extras from "./request/extras.js";
import * as gpuChoice from "./request/gpu_choice.js";
import * as profile from "./request/profile.js";
import * as timing from "./request/timing.js";
import { historyTable } from "./run/history_view.js";
import { diagnosedLines } from "./run/outcome_view.js";
import { afterFrame, emptyRun } from "./run/run_state.js";
import { RunView } from "./run/run_view.js";

const SANDBOX_STARTER = `#include <hip/hip_runtime.h>
#include <cstdio>

__global__ void hello(int* out) {
    out[threadIdx.x] = threadIdx.x * threadIdx.x;
}

int main() {
    int* out;
    hipMalloc(&out, 8 * sizeof(int));
    hello<<<1, 8>>>(out);
    int squares[8];
    hipMemcpy(squares, out, sizeof(squares), hipMemcpyDeviceToHost);
    for (int square : squares) printf("%d\\n", square);
    hipFree(out);
}
`;

const page = { problem: null, dtype: "", following: null, job: "" };
const editor = new Editor(byId("editor"), {
  onChange: (code) => session.rememberDraft(draftKey(), code),
  onSubmit: () => byId("submit-form").requestSubmit(),
});
const view = new RunView((line, column) => editor.goTo(line, column));
const tokenDialog = new TokenDialog(start);

function mode() {
  return new FormData(byId("submit-form")).get("mode");
}

function draftKey() {
  if (mode() === "sandbox") return "sandbox";
  const { slug, dtypes } = page.problem ?? { slug: "", dtypes: [""] };
  return page.dtype === dtypes[0] ? slug : `${slug}.${page.dtype}`;
}

function starter() {
  return mode() === "sandbox" ? SANDBOX_STARTER : (page.problem?.starter ?? "");
}

function showDraft() {
  editor.code = session.draft(draftKey()) ?? starter();
}

function alertOf(error) {
  if (!(error instanceof ApiError)) throw error;
  if (error.status === 401) {
    const isSignedIn = session.signedIn() !== "";
    tokenDialog.open(
      isSignedIn ? "Your sign-in has ended; sign in again." : "This token is unknown, revoked or expired, or its user is disabled; enter another.",
    );
  }
  const fields = (error.errors ?? []).map(({ field, message }) => element("li", {}, `${field}: ${message}`));
  byId("alert").replaceChildren(error.message, fields.length ? element("ul", {}, ...fields) : "");
  byId("alert").hidden = false;
}

function textOf({ message, errors }) {
  const [first] = errors ?? [];
  return first ? `${first.field}: ${first.message}` : message;
}

function guarded(action) {
  return async (...values) => {
    byId("alert").hidden = true;
    try {
      await action(...values);
    } catch (error) {
      alertOf(error);
    }
  };
}

async function showCredit() {
  const costs = await call("GET", "/api/v1/costs?page_size=1");
  byId("credit").textContent = `${dollars(costs.available_usd)} credit`;
  byId("credit").hidden = false;
}

async function showWho() {
  byId("who").textContent = signIn.nameOf(await call("GET", "/api/v1/me"));
  byId("who").hidden = false;
}

async function showQuote() {
  const query = String(gpuChoice.quoteQuery());
  const { hold_usd: most } = await call("GET", `/api/v1/quote?${query}`);
  // Something else may have been chosen meanwhile, and its answer may be there already.
  if (query === String(gpuChoice.quoteQuery())) byId("quote").textContent = `at most ${dollars(most)}`;
}

async function showHistory() {
  const { submissions } = await call("GET", "/api/v1/submissions?page_size=10");
  byId("history").replaceChildren(historyTable(submissions, guarded(openSubmission)));
}

async function showProblem(slug, dtype = "") {
  page.problem = await call("GET", `/api/v1/problems/${encodeURIComponent(slug)}?dtype=${encodeURIComponent(dtype)}`);
  page.dtype = dtype || page.problem.dtypes[0];
  // It may have been named by an alias.
  const { slug: known, signature, statement, difficulty, title } = page.problem;
  byId("problem-heading").textContent = title;
  byId("difficulty").textContent = difficulty.toLowerCase();
  byId("difficulty").hidden = !difficulty;
  byId("signature").textContent = `extern "C" void solution(\n    ${signature.split(/,\s*/).join(",\n    ")})`;
  byId("signature").hidden = false;
  byId("statement").replaceChildren(...rendered(statement).filter(isNews));
  byId("problem-select").value = known;
  showDtypes(page.problem.dtypes, page.dtype);
  session.go({ problem: known });
  showDraft();
}

function showDtypes(dtypes, chosen) {
  const options = dtypes.map((dtype) => element("option", { value: dtype, selected: dtype === chosen }, dtype));
  byId("dtype-select").replaceChildren(...options);
  byId("dtype").hidden = dtypes.length < 2;
}

// The page shows title and signature already.
function isNews(block, at) {
  const isTitle = at === 0 && block.tagName === "H2";
  return !isTitle && !(block.tagName === "PRE" && block.textContent.startsWith('extern "C" void solution('));
}

async function submit() {
  byId("submit-button").disabled = true;
  try {
    const isProgram = mode() === "sandbox";
    const subject = isProgram ? { problem: "" } : { problem: page.problem.slug, dtype: page.dtype, ...extras.read() };
    const body = { code: editor.code, mode: mode(), ...gpuChoice.read(), ...timing.read(mode()), ...profile.read(mode()), ...subject };
    const submission = await call("POST", "/api/v1/submissions", body);
    session.go({ job: submission.id });
    byId("run").scrollIntoView({ block: "nearest" });
    followSubmission(submission);
    await showHistory();
  } finally {
    byId("submit-button").disabled = false;
  }
}

const followSubmission = guarded(async (submission) => {
  page.following?.abort();
  const following = new AbortController();
  page.following = following;
  page.job = submission.id;
  let run = emptyRun(submission.mode, submission.fallback_gpu_types, submission.profile);
  editor.mark([]);
  view.show(run);
  await follow(
    submission.events_url,
    (frame) => {
      if (!frame.status) return;
      run = afterFrame(run, frame, Date.now());
      view.show(run);
    },
    following.signal,
  );
  if (following.signal.aborted) return;
  editor.mark(diagnosedLines(run.final?.data.details));
  await Promise.all([showHistory(), showCredit()]);
});

async function openSubmission({ id }) {
  const submission = await call("GET", `/api/v1/submissions/${encodeURIComponent(id)}`);
  document.querySelector(`input[name=mode][value=${CSS.escape(submission.mode)}]`)?.click();
  const { problem, dtype } = submission;
  const isShown = problem === page.problem?.slug && dtype === page.dtype;
  if (problem && !isShown) await showProblem(problem, dtype);
  editor.code = submission.code;
  extras.show(submission);
  gpuChoice.show(submission);
  timing.show(submission);
  profile.show(submission);
  session.go({ job: id });
  followSubmission(submission);
  await showQuote();
}

async function downloadReport() {
  const report = await call("GET", `/api/v1/submissions/${encodeURIComponent(page.job)}/report`);
  const url = URL.createObjectURL(new Blob([JSON.stringify(report)], { type: "application/json" }));
  element("a", { href: url, download: `${page.job}.json` }).click();
  URL.revokeObjectURL(url);
}

// Of what is not in the list only the scheduler knows whether it is an alias.
async function showFirst(named, otherwise) {
  try {
    await showProblem(named || otherwise);
  } catch (failure) {
    if (failure.status !== 404) throw failure;
    await showProblem(otherwise);
  }
}

async function start() {
  await showWho();
  const [{ problems }, { gpu_types: gpuTypes }] = await Promise.all([
    call("GET", "/api/v1/problems"),
    call("GET", "/api/v1/gpu-types"),
  ]);
  gpuChoice.offer(gpuTypes);
  const select = byId("problem-select");
  select.replaceChildren(...problems.map(({ slug, title }) => element("option", { value: slug }, title)));
  for (const id of ["problem-select", "submit-button", "starter-button", "refresh-button"]) byId(id).disabled = false;
  const { problem, job } = session.place();
  if (problems.length) await showFirst(problem, problems[0].slug);
  await Promise.all([showCredit(), showQuote(), showHistory(), job && job !== page.job ? openSubmission({ id: job }) : null]);
}

function listen() {
  byId("theme-button").addEventListener("click", switchTheme);
  byId("token-button").addEventListener("click", () => tokenDialog.open());
  byId("problem-select").addEventListener(
    "change",
    guarded((event) => showProblem(event.target.value)),
  );
  byId("dtype-select").addEventListener(
    "change",
    guarded((event) => showProblem(page.problem.slug, event.target.value)),
  );
  byId("report-button").addEventListener("click", guarded(downloadReport));
  byId("starter-button").addEventListener("click", () => {
    editor.code = starter();
    session.rememberDraft(draftKey(), editor.code);
  });
  byId("refresh-button").addEventListener("click", guarded(showHistory));
  byId("submit-form").addEventListener("submit", (event) => {
    event.preventDefault();
    guarded(submit)();
  });
  byId("cancel-button").addEventListener(
    "click",
    guarded(() => call("POST", `/api/v1/submissions/${page.job}/cancel`)),
  );
  byId("extras").addEventListener("change", guarded(showQuote));
  let before = mode();
  byId("submit-form").addEventListener("change", () => {
    if ((mode() === "sandbox") !== (before === "sandbox")) showDraft();
    timing.offerFor(mode());
    profile.offerFor(mode());
    before = mode();
  });
  window.addEventListener("hashchange", () => {
    const given = session.takeFromAddress();
    if (given) guarded(() => adopt(given))();
  });
  session.onTokenOfAnotherTab(() => location.reload());
}

// What an open page shows belongs to the account before; drafts stay.
async function adopt(given) {
  if (await signIn.adopt(given)) location.reload();
}

async function open() {
  const returned = signIn.takeAnswer();
  try {
    if (returned) await signIn.finish(returned);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    tokenDialog.open(error.message);
    return;
  }
  const given = session.takeFromAddress();
  let failure = null;
  if (given) failure = await signIn.adopt(given).then(() => null, (error) => error);
  if (session.token()) await start();
  else tokenDialog.open(failure ? textOf(failure) : "");
  if (failure) throw failure;
}

applyTheme();
listen();
guarded(open)();
