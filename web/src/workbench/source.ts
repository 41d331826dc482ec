// The text in the editor: whose draft it is, what it was before, and what is shown in its place.

import { signal } from "@preact/signals";
import type { Choices } from "../editor/choices";
import type { Editor } from "../editor/editor";
import * as kept from "../editor/kept_sources";
import { download, read } from "../editor/source_file";
import { isDue, type Version } from "../editor/versions";
import * as store from "../page/store";
import type { Diagnostic } from "../run/diagnostics";

const CHANNEL = "wavepool.drafts";
const UNKEPT =
  "This browser keeps nothing of what you write: its storage is full or switched off. Go on, and download your source before you close this page.";

export interface Draft {
  name: string;
  starter: string;
  signature: string;
}

// Something else than the draft, which cannot be changed.
export interface Old {
  // Of the text, in a sentence: "submission job_1".
  title: string;
  code: string;
}

interface Replaced {
  words: string;
  before: string;
}

export class Source {
  // From the first draft on.
  readonly isOpen = signal(false);
  readonly old = signal<Old | null>(null);
  // What took the place of the text last, and can be undone.
  readonly replaced = signal<Replaced | null>(null);
  // What another tab has made of this draft.
  readonly newer = signal<string | null>(null);
  // Why a file was not opened.
  readonly refusal = signal("");
  readonly unkept = signal("");
  readonly choices = signal<Choices>(store.editorChoices());
  #draft: Draft = { name: "", starter: "", signature: "" };
  #marks: Diagnostic[] = [];
  #code = "";
  #editor: Editor | null = null;
  #openings = 0;
  #versionAt = 0;
  #hasSaidUnkept = false;
  readonly #tabs = channel();

  constructor() {
    if (!this.#tabs) return;
    this.#tabs.onmessage = ({ data }: MessageEvent<{ name: string; code: string }>) => {
      if (data.name === this.#draft.name) this.newer.value = data.code === this.#code ? null : data.code;
    };
  }

  set editor(editor: Editor | null) {
    this.#editor = editor;
    if (editor) editor.choices = this.choices.value;
    this.#show();
    editor?.mark(this.#marks);
  }

  get editor(): Editor | null {
    return this.#editor;
  }

  // What is seen.
  get code(): string {
    return this.old.value?.code ?? this.#code;
  }

  // Shows a draft, or something old if its text is another; the last call wins.
  async open(draft: Draft, old: Old | null = null): Promise<void> {
    const opening = ++this.#openings;
    const found = store.draft(draft.name) ?? (await kept.largeDraft(draft.name).catch(() => null));
    if (opening !== this.#openings) return;
    this.#draft = draft;
    this.#code = found ?? draft.starter;
    this.#versionAt = Date.now();
    this.replaced.value = this.newer.value = null;
    this.refusal.value = "";
    this.isOpen.value = true;
    this.show(old);
  }

  show(old: Old | null): void {
    this.old.value = old?.code === this.#code ? null : old;
    this.#show();
  }

  // An editor that comes later gets them, too.
  mark(diagnostics: Diagnostic[]): void {
    this.#marks = diagnostics;
    this.#editor?.mark(diagnostics);
  }

  // Keeps what was typed.
  remember(code: string): void {
    const before = this.#code;
    this.#code = code;
    if (this.newer.value !== null) this.#addVersion("from another tab", this.newer.value);
    this.newer.value = null;
    if (isDue(this.#versionAt, Date.now())) this.#addVersion("while you typed", before);
    void this.#keep(this.#draft.name, code);
    this.#tabs?.postMessage({ name: this.#draft.name, code });
  }

  keepVersion(why: string): void {
    this.#addVersion(why, this.code);
  }

  versions(): Promise<Version[]> {
    return kept.versionsOf(this.#draft.name);
  }

  takeStarter(): void {
    this.#replace(this.#draft.starter, "The starter");
  }

  takeOld(): void {
    const { title, code } = this.old.value ?? {};
    if (code !== undefined) this.#replace(code, `The code of ${title}`);
  }

  takeNewer(): void {
    if (this.newer.value !== null) this.#replace(this.newer.value, "The text of the other tab");
  }

  // The other tab is told of it, and may take it.
  keepOwn(): void {
    this.remember(this.#code);
  }

  undo(): void {
    const { before } = this.replaced.value ?? {};
    if (before !== undefined) this.#replace(before, "Your text of before");
    this.replaced.value = null;
  }

  async openFile(file: File): Promise<void> {
    const found = await read(file);
    this.refusal.value = "refusal" in found ? found.refusal : "";
    if ("text" in found) this.#replace(found.text, file.name);
  }

  download(): void {
    download(`${this.#draft.name}.hip`, this.code);
  }

  choose(choices: Choices): void {
    this.choices.value = choices;
    store.rememberEditorChoices(choices);
    if (this.#editor) this.#editor.choices = choices;
  }

  // Nobody is told twice that nothing is kept.
  hear(): void {
    this.unkept.value = "";
  }

  close(): void {
    this.#tabs?.close();
  }

  #replace(code: string, what: string): void {
    const before = this.#code;
    if (code !== before) {
      this.#addVersion("before it was replaced", before);
      this.remember(code);
      this.replaced.value = { words: `${what} has replaced your text.`, before };
    }
    this.newer.value = null;
    this.show(null);
  }

  #show(): void {
    if (!this.#editor) return;
    const old = this.old.value;
    this.#editor.signature = this.#draft.signature;
    const name = old ? `${old.title} instead of ${this.#draft.name}` : this.#draft.name;
    this.#editor.show({ name, code: this.code, isReadOnly: old !== null });
  }

  async #keep(name: string, code: string): Promise<void> {
    if (store.rememberDraft(name, code)) return;
    try {
      await kept.keepLargeDraft(name, code);
      // The small store still has the text of before.
      if (this.#draft.name !== name || this.#code === code) store.forgetDraft(name);
    } catch {
      this.#sayUnkept();
    }
  }

  #addVersion(why: string, code: string): void {
    const at = Math.max(Date.now(), this.#versionAt + 1);
    this.#versionAt = at;
    if (code) kept.addVersion({ draft: this.#draft.name, at, why, code }).catch(() => this.#sayUnkept());
  }

  #sayUnkept(): void {
    if (!this.#hasSaidUnkept) this.unkept.value = UNKEPT;
    this.#hasSaidUnkept = true;
  }
}

// Browsers that are set to keep nothing may refuse it, too; then no tab hears of another.
function channel(): BroadcastChannel | null {
  try {
    return new BroadcastChannel(CHANNEL);
  } catch {
    return null;
  }
}
