// What this browser remembers: the token, a sign-in that has begun, drafts, the theme, the last problem, how somebody
// wants the editor, and what was asked for last.

import { type Choices, choicesOf } from "../editor/choices";

const TOKEN = "wavepool.token";
const SIGNED_IN = "wavepool.signed-in";
const SIGN_IN = "wavepool.sign-in";
const THEME = "wavepool.theme";
const PANES = "wavepool.panes";
const LAST_PROBLEM = "wavepool.problem";
const EDITOR = "wavepool.editor";
const REQUEST = "wavepool.request";

// A store that may be full, or switched off; what it does not take is known as long as this page is open.
class Store {
  readonly #storage: () => Storage;
  readonly #values = new Map<string, string>();

  constructor(storage: () => Storage) {
    this.#storage = storage;
  }

  getItem(name: string): string | null {
    return this.#values.get(name) ?? this.#tried((storage) => storage.getItem(name)) ?? null;
  }

  // False if only this page knows it now, and a later one what was there before.
  setItem(name: string, value: string): boolean {
    const isKept = this.#tried((storage) => storage.setItem(name, value) ?? true) ?? false;
    if (isKept) this.#values.delete(name);
    else this.#values.set(name, value);
    return isKept;
  }

  removeItem(name: string): void {
    this.#values.delete(name);
    this.#tried((storage) => storage.removeItem(name));
  }

  #tried<Result>(action: (storage: Storage) => Result): Result | null {
    try {
      return action(this.#storage());
    } catch {
      return null;
    }
  }
}

const local = new Store(() => localStorage);
const session = new Store(() => sessionStorage);

export interface BegunSignIn {
  state: string;
  nonce: string;
  verifier: string;
  issuer: string;
  place: string;
}

export function token(): string {
  return local.getItem(TOKEN) ?? "";
}

export function rememberToken(value: string): void {
  keep(TOKEN, value);
}

// The id of the token, if a sign-in made it.
export function signedIn(): string {
  return local.getItem(SIGNED_IN) ?? "";
}

export function rememberSignedIn(tokenId: string): void {
  keep(SIGNED_IN, tokenId);
}

// A sign-in that has begun belongs to its tab, and its answer is taken once.
export function rememberSignIn(begun: BegunSignIn): void {
  session.setItem(SIGN_IN, JSON.stringify(begun));
}

export function takeSignIn(): BegunSignIn | null {
  const begun = session.getItem(SIGN_IN);
  session.removeItem(SIGN_IN);
  return begun ? JSON.parse(begun) : null;
}

export function draft(name: string): string | null {
  return local.getItem(`wavepool.draft.${name}`);
}

// False if only this page knows it now.
export function rememberDraft(name: string, code: string): boolean {
  return local.setItem(`wavepool.draft.${name}`, code);
}

export function forgetDraft(name: string): void {
  local.removeItem(`wavepool.draft.${name}`);
}

export function editorChoices(): Choices {
  return choicesOf(local.getItem(EDITOR));
}

export function rememberEditorChoices(choices: Choices): void {
  keep(EDITOR, JSON.stringify(choices));
}

// What this tab asked for last, as `request/form.ts` reads it; of a new tab, what any has.
export function request(): string | null {
  return session.getItem(REQUEST) ?? local.getItem(REQUEST);
}

// All of it in this tab; the lasting part in new ones, too.
export function rememberRequest(whole: string, lasting: string): void {
  session.setItem(REQUEST, whole);
  keep(REQUEST, lasting);
}

export function forgetRequest(): void {
  session.removeItem(REQUEST);
  keep(REQUEST, "");
}

export function theme(): string | null {
  return local.getItem(THEME);
}

export function rememberTheme(value: string): void {
  keep(THEME, value);
}

// The widths of panes, as `pane_widths.ts` reads them.
export function paneWidths(): string | null {
  return local.getItem(PANES);
}

export function rememberPaneWidths(widths: string): void {
  keep(PANES, widths);
}

// The problem that was shown last.
export function lastProblem(): string {
  return local.getItem(LAST_PROBLEM) ?? "";
}

export function rememberProblem(slug: string): void {
  keep(LAST_PROBLEM, slug);
}

export function onTokenOfAnotherTab(action: () => void): void {
  window.addEventListener("storage", ({ key }) => {
    if (key === TOKEN || key === null) action();
  });
}

function keep(name: string, value: string): void {
  if (value) local.setItem(name, value);
  else local.removeItem(name);
}
