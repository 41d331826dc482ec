// One problem or a whole program, what is asked for, and the run that is followed: what a workbench shows and does.

import { batch, signal } from "@preact/signals";
import { navigate } from "wouter-preact/use-browser-location";
import { ApiError } from "../gateway/api_error";
import { api, given, type Schemas } from "../gateway/client";
import * as queries from "../gateway/queries";
import { problemAddress, sandboxAddress, workbenchAddress } from "../page/addresses";
import { askAgain, guarded, showFailure } from "../page/alert";
import * as store from "../page/store";
import { type Form, formOf, isProgram, rememberedForm, requestOf, toRemember } from "../request/form";
import { type Refusal, refusalOf, waitAgain } from "../request/refusal";
import { diagnosed } from "../run/diagnostics";
import { cancel, downloadReport, type Followed, followRun } from "../run/following";
import type { Run } from "../run/run_state";
import { SANDBOX_STARTER } from "./sandbox_starter";
import { type Old, Source } from "./source";

export interface Place {
  slug: string;
  submissionId: string;
}

export class Bench {
  readonly problem = signal<Schemas["ProblemDetail"] | null>(null);
  readonly dtype = signal("");
  readonly source = new Source();
  readonly form = signal<Form>(rememberedForm(store.request()));
  readonly submissionId = signal("");
  readonly run = signal<Run | null>(null);
  readonly isSubmitting = signal(false);
  readonly refusal = signal<Refusal | null>(null);
  // While a submission is sent again by itself.
  readonly trying = signal("");
  // The part of the page that a narrow screen shows.
  readonly pane = signal("code-pane");
  // What the address names and the gateway does not know.
  readonly missing = signal<Place | null>(null);

  #following: AbortController | null = null;
  // The last arrival is shown, whatever is answered first.
  #arrivals = 0;
  // Of a source that was sent and whose answer was lost: sent again, it is the same submission.
  #unanswered = { request: "", key: "" };

  // A whole program has no problem, and one mode.
  constructor(readonly isProgram: boolean) {
    if (isProgram) this.form.value = { ...this.form.value, mode: "sandbox" };
  }

  // Runs the sample, whatever else was chosen.
  async runSample(): Promise<void> {
    if (this.isProgram) return;
    this.change({ mode: "sample" });
    await this.submit();
  }

  // Shows what the address names.
  async arrive({ slug, submissionId }: Place): Promise<void> {
    this.missing.value = null;
    const isOtherRun = submissionId && submissionId !== this.submissionId.value;
    const isHere = this.isProgram ? this.source.isOpen.value : !slug || slug === this.problem.value?.slug;
    if (!isOtherRun && isHere) return;
    const arrival = ++this.#arrivals;
    const shown = isOtherRun
      ? this.#showSubmission(arrival, submissionId)
      : this.isProgram
        ? this.#openDraft()
        : this.#showOnlyProblem(arrival, slug);
    await shown.catch(showFailure);
  }

  readonly chooseDtype = guarded(async (dtype: string) => {
    if (this.problem.value) await this.#showProblem(++this.#arrivals, this.problem.value.slug, dtype);
  });

  change(changes: Partial<Form>): void {
    this.form.value = { ...this.form.value, ...changes };
    // The mode of kernels stays what it was.
    const mode = this.isProgram ? rememberedForm(store.request()).mode : this.form.value.mode;
    store.rememberRequest(...toRemember({ ...this.form.value, mode }));
  }

  goTo(line: number, column: number): void {
    const { editor } = this.source;
    this.pane.value = "code-pane";
    if (editor?.isShown) editor.goTo(line, column);
    else requestAnimationFrame(() => editor?.goTo(line, column));
  }

  get canSubmit(): boolean {
    const hasSubject = this.isProgram || this.problem.value !== null;
    return hasSubject && this.form.value.gpuType !== "" && !this.isSubmitting.value;
  }

  // Refusals are shown where the button is.
  async submit(): Promise<void> {
    if (!this.canSubmit || !this.source.editor) return;
    this.isSubmitting.value = true;
    this.refusal.value = null;
    try {
      const subject = { slug: this.problem.value?.slug ?? "", dtype: this.dtype.value };
      this.#taken(await this.#sent(requestOf(this.form.value, this.source.code, subject)), subject.slug);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      askAgain(error);
      this.refusal.value = refusalOf(error, Date.now());
    } finally {
      batch(() => {
        this.isSubmitting.value = false;
        this.trying.value = "";
      });
    }
  }

  readonly cancel = () => cancel(this.submissionId.value);

  readonly downloadReport = () => downloadReport(this.submissionId.value);

  close(): void {
    this.#following?.abort();
    this.source.close();
  }

  #taken(submission: Followed, slug: string): void {
    this.source.keepVersion(`submitted as ${submission.id}`);
    this.#follow(submission);
    navigate(this.#address(slug, submission.id));
    this.pane.value = "result-pane";
  }

  async #sent(request: Schemas["SubmissionRequest"]): Promise<Schemas["Submission"]> {
    const text = JSON.stringify(request);
    if (this.#unanswered.request !== text) this.#unanswered = { request: text, key: randomKey() };
    const headers = { "Idempotency-Key": this.#unanswered.key };
    for (let failures = 1; ; failures++) {
      try {
        const submission = await given(api.POST("/api/v1/submissions", { body: request, headers }));
        this.#unanswered = { request: "", key: "" };
        return submission;
      } catch (error) {
        const wait = error instanceof ApiError ? waitAgain(error, failures) : null;
        if (wait === null) throw error;
        this.trying.value = `${(error as ApiError).message} Trying again…`;
        await new Promise((resolve) => setTimeout(resolve, wait * 1000));
      }
    }
  }

  #address(slug: string, submissionId: string): string {
    return this.isProgram ? sandboxAddress(submissionId) : problemAddress(slug, submissionId);
  }

  // A run of before belongs to another problem.
  async #showOnlyProblem(arrival: number, slug: string): Promise<void> {
    this.#following?.abort();
    batch(() => {
      this.submissionId.value = "";
      this.run.value = null;
    });
    await this.#showProblem(arrival, slug, "");
    const known = this.problem.value?.slug ?? slug;
    // It may have been named by an alias.
    if (arrival === this.#arrivals && !this.missing.value && known !== slug) {
      navigate(problemAddress(known), { replace: true });
    }
  }

  async #showProblem(arrival: number, slug: string, dtype: string, old: Old | null = null): Promise<void> {
    const problem = await this.#found(queries.queries.fetchQuery(queries.problem(slug, dtype)), { slug });
    if (!problem || arrival !== this.#arrivals) return;
    batch(() => {
      this.problem.value = problem;
      this.dtype.value = dtype || (problem.dtypes[0] ?? "");
      this.refusal.value = null;
    });
    store.rememberProblem(problem.slug);
    await this.#openDraft(old);
  }

  async #showSubmission(arrival: number, id: string): Promise<void> {
    const [submission, offered] = await Promise.all([
      this.#found(queries.queries.fetchQuery(queries.submission(id)), { submissionId: id }),
      queries.queries.fetchQuery(queries.gpuTypes),
    ]);
    if (!submission || arrival !== this.#arrivals) return;
    const form = formOf(submission, offered);
    if (isProgram(form) !== this.isProgram) {
      // It is of the other workbench.
      navigate(workbenchAddress(submission), { replace: true });
      return;
    }
    this.form.value = form;
    const slug = this.isProgram ? "" : submission.problem || this.problem.value?.slug || (await firstProblem());
    const old = { title: `submission ${id}`, code: submission.code };
    await (this.isProgram
      ? this.#openDraft(old)
      : this.#showProblem(arrival, slug, submission.problem ? submission.dtype : "", old));
    if (arrival !== this.#arrivals) return;
    this.#follow(submission);
    navigate(this.#address(slug, id), { replace: true });
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
    const show = (run: Run) => {
      this.run.value = run;
    };
    const run = await followRun(submission, show, following.signal);
    if (!following.signal.aborted) this.source.mark(diagnosed(run.final?.details));
  }

  #follow(submission: Followed): void {
    this.#following?.abort();
    this.#following = new AbortController();
    this.submissionId.value = submission.id;
    this.source.mark([]);
    this.#followed(submission, this.#following).catch(showFailure);
  }

  async #openDraft(old: Old | null = null): Promise<void> {
    const { slug, dtypes, starter, signature } = this.problem.value ?? NO_PROBLEM;
    if (this.isProgram) {
      await this.source.open({ name: "sandbox", starter: SANDBOX_STARTER, signature: "" }, old);
      return;
    }
    const name = this.dtype.value === dtypes[0] ? slug : `${slug}.${this.dtype.value}`;
    await this.source.open({ name, starter, signature }, old);
  }
}

const NO_PROBLEM = { slug: "", dtypes: [""], starter: "", signature: "" };

async function firstProblem(): Promise<string> {
  const { problems } = await queries.queries.fetchQuery(queries.problems);
  return problems[0]?.slug ?? "";
}

// `crypto.randomUUID` is there on https pages only.
function randomKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
