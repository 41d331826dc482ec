// Sign-in at the organisation's identity provider: the authorization code flow with PKCE (RFC 7636).
//
// The page holds no secret of the provider and never sees its tokens: it brings back a code, which the gateway's side
// exchanges. What this browser made up before it went away (state, nonce, verifier) waits in the tab's own store.

import * as session from "../page/session.js";
import { ApiError, call } from "./api.js";

const SIGN_IN = "/api/v1/sign-in";

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
