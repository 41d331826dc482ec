// Sign-in at the organisation's identity provider: the authorization code flow with PKCE (RFC 7636).
//
// The page holds no secret of the provider and never sees its tokens: it brings back a code, which the gateway's side
// exchanges. What this browser made up before it went away (state, nonce, verifier) waits in the tab's own store.

import * as session from "../page/session.js";
import { ApiError, call } from "./api.js";

const SIGN_IN = "/api/v1/sign-in";
const ME = "/api/v1/me";

export function options() {
  return call("GET", SIGN_IN);
}

export async function leaveFor({ authorization_endpoint: endpoint, client_id, scopes, issuer }) {
  if (!crypto.subtle) throw new ApiError(0, "Browsers allow sign-in on https pages only, and on this machine.");
  const [state, nonce, verifier] = [random(), random(), random()];
  session.rememberSignIn({ state, nonce, verifier, issuer, place: location.hash });
  const address = new URL(endpoint);
  const fields = {
    response_type: "code",
    client_id,
    redirect_uri: redirectUri(),
    scope: scopes.join(" "),
    state,
    nonce,
    code_challenge: await challenge(verifier),
    code_challenge_method: "S256",
  };
  for (const [name, value] of Object.entries(fields)) address.searchParams.set(name, value);
  location.assign(address);
}

// What the provider sent the browser back with, taken out of the address; null if it did not.
export function takeAnswer() {
  const answer = new URLSearchParams(location.search);
  if (!answer.has("state") || !(answer.has("code") || answer.has("error"))) return null;
  const begun = session.takeSignIn();
  history.replaceState(null, "", location.pathname + (begun?.place ?? ""));
  return { answer, begun };
}

export async function finish({ answer, begun }) {
  if (!begun || answer.get("state") !== begun.state || (answer.get("iss") ?? begun.issuer) !== begun.issuer) {
    throw new ApiError(0, "This answer is not to a sign-in of this page; sign in again.");
  }
  if (answer.has("error")) {
    const reason = answer.get("error_description") ?? answer.get("error");
    throw new ApiError(0, `The identity provider did not sign you in: ${reason}.`);
  }
  const { verifier: code_verifier, nonce } = begun;
  const made = await call("POST", SIGN_IN, {
    code: answer.get("code"),
    code_verifier,
    redirect_uri: redirectUri(),
    nonce,
  });
  session.rememberToken(made.token);
  session.rememberSignedIn(made.id);
}

// Takes the token of a link that somebody opened. A link may come from anybody, so an account that the page has
// already is never changed without a question. True if the page has another token then.
export async function adopt({ link, token: named }) {
  const given = link ? (await call("POST", SIGN_IN, { link }, "")).token : named;
  const current = session.token();
  if (given === current) return false;
  const next = await working(given);
  if (!next) throw new ApiError(0, "The token of this link is unknown, revoked or expired.");
  const before = current ? await working(current) : null;
  const isOther = before && (before.user_id !== next.user_id || before.account_id !== next.account_id);
  const question = `This link changes the account of this page from ${nameOf(before)} to ${nameOf(next)}. What you submit then belongs to ${nameOf(next)}. Change it?`;
  if (isOther && !window.confirm(question)) {
    if (link) await call("DELETE", `/api/v1/tokens/${encodeURIComponent(next.token_id)}`, undefined, given);
    return false;
  }
  session.rememberToken(given);
  session.rememberSignedIn("");
  return true;
}

// Whose token it is; null if it does not work any more.
async function working(token) {
  try {
    return await call("GET", ME, undefined, token);
  } catch (error) {
    if (error.status === 401) return null;
    throw error;
  }
}

// The user, with the account that pays if it is another's.
export function nameOf(me) {
  if (!me) return "";
  return me.user_name === me.account_name ? me.user_name : `${me.user_name} (${me.account_name})`;
}

// Revokes the token if a sign-in made it; one that was typed in may be in use elsewhere.
export async function signOut() {
  const id = session.signedIn();
  if (id) await call("DELETE", `/api/v1/tokens/${encodeURIComponent(id)}`);
}

function redirectUri() {
  return `${location.origin}/`;
}

function random() {
  return base64url(crypto.getRandomValues(new Uint8Array(32)));
}

async function challenge(verifier) {
  return base64url(new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier))));
}

function base64url(bytes) {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replace(/=+$/, "");
}
