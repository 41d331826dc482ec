// What this browser remembers: the token, a sign-in that has begun, drafts, the theme, the last problem.

const TOKEN = "wavepool.token";
const SIGNED_IN = "wavepool.signed-in";
const SIGN_IN = "wavepool.sign-in";
const THEME = "wavepool.theme";
const PANES = "wavepool.panes";
const LAST_PROBLEM = "wavepool.problem";

export interface BegunSignIn {
  state: string;
  nonce: string;
  verifier: string;
  issuer: string;
  place: string;
}

export function token(): string {
  return localStorage.getItem(TOKEN) ?? "";
}

export function rememberToken(value: string): void {
  keep(TOKEN, value);
}

// The id of the token, if a sign-in made it.
export function signedIn(): string {
  return localStorage.getItem(SIGNED_IN) ?? "";
}

export function rememberSignedIn(tokenId: string): void {
  keep(SIGNED_IN, tokenId);
}

// A sign-in that has begun belongs to its tab, and its answer is taken once.
export function rememberSignIn(begun: BegunSignIn): void {
  sessionStorage.setItem(SIGN_IN, JSON.stringify(begun));
}

export function takeSignIn(): BegunSignIn | null {
  const begun = sessionStorage.getItem(SIGN_IN);
  sessionStorage.removeItem(SIGN_IN);
  return begun ? JSON.parse(begun) : null;
}

export function draft(name: string): string | null {
  return localStorage.getItem(`wavepool.draft.${name}`);
}

export function rememberDraft(name: string, code: string): void {
  try {
    localStorage.setItem(`wavepool.draft.${name}`, code);
  } catch {
    // The browser's store is full; the text stays in the editor.
  }
}

export function theme(): string | null {
  return localStorage.getItem(THEME);
}

export function rememberTheme(value: string): void {
  localStorage.setItem(THEME, value);
}

// The widths of panes, as `pane_widths.ts` reads them.
export function paneWidths(): string | null {
  return localStorage.getItem(PANES);
}

export function rememberPaneWidths(widths: string): void {
  keep(PANES, widths);
}

// The problem that was shown last.
export function lastProblem(): string {
  return localStorage.getItem(LAST_PROBLEM) ?? "";
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
  if (value) localStorage.setItem(name, value);
  else localStorage.removeItem(name);
}
