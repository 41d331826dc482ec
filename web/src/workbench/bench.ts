// One problem, its source, and the run that is followed: what the workbench shows and does.

import { batch, computed, signal } from "@preact/signals";
import { navigate } from "wouter-preact/use-browser-location";
import type { Editor } from "../editor/editor";
import { api, given, type Schemas } from "../gateway/client";
import { follow } from "../gateway/event_stream";
import * as queries from "../gateway/queries";
import { download } from "../gateway/ticket";
import { problemAddress } from "../page/addresses";
import { guarded, showFailure } from "../page/alert";
import * as store from "../page/store";
import { EMPTY_FORM, type Form, formOf, requestOf } from "../request/form";
import { diagnosed } from "../run/diagnostics";
import { afterFrame, emptyRun, type Run } from "../run/run_state";
import { isGood } from "../run/verdicts";
import { SANDBOX_STARTER } from "./sandbox_starter";

export interface Place {
  slug: string;
  submissionId: string;
}

export class Bench {
  readonly problem = signal<Schemas["ProblemDetail"] | null>(null);
  readonly dtype = signal("");
  readonly form = signal<Form>(EMPTY_FORM);
  readonly submissionId = signal("");
  readonly run = signal<Run | null>(null);
  readonly isSubmitting = signal(false);
  // The part of the page that a narrow screen shows.
  readonly pane = signal("code-pane");
  // What the address names and the gateway does not know.
  readonly missing = signal<Place | null>(null);

  readonly isProgram = computed(() => this.form.value.mode === "sandbox");
  readonly #draftName = computed(() => {
    const { slug, dtypes } = this.problem.value ?? { slug: "", dtypes: [""] };
    if (this.isProgram.value) return "sandbox";
    return this.dtype.value === dtypes[0] ? slug : `${slug}.${this.dtype.value}`;
  });
  #editor: Editor | null = null;
  // The source, for an editor that comes later.
  #code = "";
  #following: AbortController | null = null;
  // The last arrival is shown, whatever is answered first.
  #arrivals = 0;
  // Of a source that was sent and whose answer was lost: sent again, it is the same submission.
  #unanswered = { request: "", key: "" };

  set editor(editor: Editor | null) {
    this.#editor = editor;
    if (editor) editor.code = this.#code;
  }

  // Runs the sample, whatever else was chosen.
  runSample(): void {
    this.change({ mode: "sample" });
    void this.submit();
  }

  // Shows what the address names.
  async arrive({ slug, submissionId }: Place): Promise<void> {
    this.missing.value = null;
    const isOtherRun = submissionId && submissionId !== this.submissionId.value;
    if (!isOtherRun && (!slug || slug === this.problem.value?.slug)) return;
    const arrival = ++this.#arrivals;
    const shown = isOtherRun ? this.#showSubmission(arrival, submissionId) : this.#showProblem(arrival, slug, "");
    await shown.catch(showFailure);
  }

  readonly chooseDtype = guarded(async (dtype: string) => {
    if (this.problem.value) await this.#showProblem(++this.#arrivals, this.problem.value.slug, dtype);
  });

  change(changes: Partial<Form>): void {
    const before = this.isProgram.value;
    this.form.value = { ...this.form.value, ...changes };
    if (this.isProgram.value !== before) this.#showDraft();
  }

  remember(code: string): void {
    this.#code = code;
    store.rememberDraft(this.#draftName.value, code);
  }

  takeStarter(): void {
    if (!this.#editor) return;
    this.#editor.code = this.#starter;
    this.remember(this.#editor.code);
  }

  goTo(line: number, column: number): void {
    const go = () => this.#editor?.goTo(line, column);
    this.pane.value = "code-pane";
    if (this.#editor?.isShown) go();
    else requestAnimationFrame(go);
  }

  readonly submit = guarded(async () => {
    const problem = this.problem.value;
    if (!problem || !this.#editor || this.isSubmitting.value) return;
    this.isSubmitting.value = true;
    try {
      const subject = { slug: problem.slug, dtype: this.dtype.value };
      const submission = await this.#sent(requestOf(this.form.value, this.#editor.code, subject));
      this.#follow(submission);
      navigate(problemAddress(problem.slug, submission.id));
      this.pane.value = "result-pane";
      await queries.queries.invalidateQueries({ queryKey: queries.SUBMISSIONS });
    } finally {
      this.isSubmitting.value = false;
    }
  });

  readonly cancel = guarded(async () => {
    const path = { submission_id: this.submissionId.value };
    await api.POST("/api/v1/submissions/{submission_id}/cancel", { params: { path } });
  });

  readonly downloadReport = guarded(async () => {
    const id = this.submissionId.value;
    await download(`/api/v1/submissions/${encodeURIComponent(id)}/report`, `${id}.json`);
  });

  close(): void {
    this.#following?.abort();
  }

  async #sent(request: Schemas["SubmissionRequest"]): Promise<Schemas["Submission"]> {
    const text = JSON.stringify(request);
    if (this.#unanswered.request !== text) this.#unanswered = { request: text, key: randomKey() };
    const headers = { "Idempotency-Key": this.#unanswered.key };
    const submission = await given(api.POST("/api/v1/submissions", { body: request, headers }));
    this.#unanswered = { request: "", key: "" };
    return submission;
  }

  async #showProblem(arrival: number, slug: string, dtype: string, code?: string): Promise<void> {
    const problem = await this.#found(queries.queries.fetchQuery(queries.problem(slug, dtype)), { slug });
    if (!problem || arrival !== this.#arrivals) return;
    batch(() => {
      this.problem.value = problem;
      this.dtype.value = dtype || (problem.dtypes[0] ?? "");
    });
    this.#showDraft(code);
    store.rememberProblem(problem.slug);
    // It may have been named by an alias.
    if (slug !== problem.slug && !this.submissionId.value) navigate(problemAddress(problem.slug), { replace: true });
  }

  async #showSubmission(arrival: number, id: string): Promise<void> {
    const [submission, offered] = await Promise.all([
      this.#found(queries.queries.fetchQuery(queries.submission(id)), { submissionId: id }),
      queries.queries.fetchQuery(queries.gpuTypes),
    ]);
    if (!submission || arrival !== this.#arrivals) return;
    this.form.value = formOf(submission, offered);
    this.#follow(submission);
    const slug = submission.problem || this.problem.value?.slug || (await firstProblem());
    await this.#showProblem(arrival, slug, submission.problem ? submission.dtype : "", submission.code);
    if (arrival === this.#arrivals) navigate(problemAddress(slug, id), { replace: true });
  }

  async #found<Data>(answer: Promise<Data>, place: Partial<Place>): Promise<Data | null> {
    try {
      return await answer;
    } catch (error) {
      if ((error as { status?: number }).status !== 404) throw error;
      this.missing.value = { slug: "", submissionId: "", ...place };
      return null;
    }
  }

  async #followed(submission: Followed, following: AbortController): Promise<void> {
    let run = emptyRun(submission.mode, submission.fallback_gpu_types, submission.profile);
    this.run.value = run;
    await follow(
      submission.events_url,
      (frame) => {
        run = afterFrame(run, frame, Date.now(), isGood);
        this.run.value = run;
      },
      following.signal,
    );
    if (following.signal.aborted) return;
    this.#editor?.mark(diagnosed(run.final?.details));
    await Promise.all([
      queries.queries.invalidateQueries({ queryKey: queries.SUBMISSIONS }),
      queries.queries.invalidateQueries(queries.costs),
    ]);
  }

  #follow(submission: Followed): void {
    this.#following?.abort();
    this.#following = new AbortController();
    this.submissionId.value = submission.id;
    this.#editor?.mark([]);
    this.#followed(submission, this.#following).catch(showFailure);
  }

  get #starter(): string {
    return this.isProgram.value ? SANDBOX_STARTER : (this.problem.value?.starter ?? "");
  }

  #showDraft(code = store.draft(this.#draftName.value) ?? this.#starter): void {
    this.#code = code;
    if (this.#editor) this.#editor.code = code;
  }
}

type Followed = Pick<Schemas["Submission"], "id" | "mode" | "fallback_gpu_types" | "profile" | "events_url">;

async function firstProblem(): Promise<string> {
  const { problems } = await queries.queries.fetchQuery(queries.problems);
  return problems[0]?.slug ?? "";
}

// `crypto.randomUUID` is there on https pages only.
function randomKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
