// What this browser remembers: the token, drafts, the theme; and what the address holds: the problem and the submission.

const TOKEN = "wavepool.token";
const SIGNED_IN = "wavepool.signed-in";
const SIGN_IN = "wavepool.sign-in";
const THEME = "wavepool.theme";

export function token() {
  return localStorage.getItem(TOKEN) ?? "";
}

export function rememberToken(value) {
  if (value) localStorage.setItem(TOKEN, value);
  else localStorage.removeItem(TOKEN);
}

// The id of the token, if a sign-in made it.
export function signedIn() {
  return localStorage.getItem(SIGNED_IN) ?? "";
}

export function rememberSignedIn(tokenId) {
  if (tokenId) localStorage.setItem(SIGNED_IN, tokenId);
  else localStorage.removeItem(SIGNED_IN);
}

// A sign-in that has begun belongs to its tab, and its answer is taken once.
export function rememberSignIn(begun) {
  sessionStorage.setItem(SIGN_IN, JSON.stringify(begun));
}

export function takeSignIn() {
  const begun = sessionStorage.getItem(SIGN_IN);
  sessionStorage.removeItem(SIGN_IN);
  return begun ? JSON.parse(begun) : null;
}

export function draft(problem) {
  return localStorage.getItem(`wavepool.draft.${problem}`);
}

export function rememberDraft(problem, code) {
  try {
    localStorage.setItem(`wavepool.draft.${problem}`, code);
  } catch {
    // The browser's store is full; the text stays in the editor.
  }
}

export function theme() {
  return localStorage.getItem(THEME);
}

export function rememberTheme(value) {
  localStorage.setItem(THEME, value);
}

export function place() {
  const fields = new URLSearchParams(location.hash.slice(1));
  return { problem: fields.get("problem") ?? "", job: fields.get("job") ?? "" };
}

export function go(changes) {
  const fields = new URLSearchParams();
  for (const [name, value] of Object.entries({ ...place(), ...changes })) if (value) fields.set(name, value);
  history.replaceState(null, "", fields.size ? `#${fields}` : location.pathname);
}

// What a link brings behind the `#`, which browsers never send, leaves the address at once: the secret of a link of
// `wavepool up`, or a token.
export function takeFromAddress() {
  const fields = new URLSearchParams(location.hash.slice(1));
  const [link, token] = ["link", "token"].map((name) => fields.get(name) ?? "");
  if (link || token) go({});
  return link || token ? { link, token } : null;
}

export function onTokenOfAnotherTab(action) {
  window.addEventListener("storage", ({ key }) => {
    if (key === TOKEN || key === null) action();
  });
}
