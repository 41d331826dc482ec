// Sign-in at the organisation's identity provider: the authorization code flow with PKCE (RFC 7636).
//
// The page holds no secret of the provider and never sees its tokens: it brings back a code, which the gateway's side
// exchanges. What this browser made up before it went away (state, nonce, verifier) waits in the tab's own store.

import * as store from "../page/store";
import { ApiError } from "./api_error";
import { api, bearer, given, type Schemas } from "./client";
import { type OwnToken, ownToken } from "./own_token";

export type Me = Schemas["Me"];

export async function leaveFor(options: Schemas["SignInOptions"]): Promise<void> {
  const { authorization_endpoint: endpoint, client_id, scopes, issuer } = options;
  if (!crypto.subtle) throw new ApiError(0, "Browsers allow sign-in on https pages only, and on this machine.");
  const [state, nonce, verifier] = [random(), random(), random()];
  store.rememberSignIn({ state, nonce, verifier, issuer, place: location.pathname + location.search + location.hash });
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

export interface ProvidersAnswer {
  answer: URLSearchParams;
  begun: store.BegunSignIn | null;
}

// What the provider sent the browser back with, taken out of the address; null if it did not.
export function takeAnswer(): ProvidersAnswer | null {
  const answer = new URLSearchParams(location.search);
  if (!answer.has("state") || !(answer.has("code") || answer.has("error"))) return null;
  const begun = store.takeSignIn();
  history.replaceState(null, "", begun?.place || location.pathname);
  return { answer, begun };
}

export async function finish({ answer, begun }: ProvidersAnswer): Promise<void> {
  if (!begun || answer.get("state") !== begun.state || (answer.get("iss") ?? begun.issuer) !== begun.issuer) {
    throw new ApiError(0, "This answer is not to a sign-in of this page; sign in again.");
  }
  if (answer.has("error")) {
    const reason = answer.get("error_description") ?? answer.get("error");
    throw new ApiError(0, `The identity provider did not sign you in: ${reason}.`);
  }
  const { verifier: code_verifier, nonce } = begun;
  const code = answer.get("code") ?? "";
  const made = await exchanged({ code, code_verifier, redirect_uri: redirectUri(), nonce });
  store.rememberToken(made.token);
  store.rememberSignedIn(made.id);
}

// What a link brings behind the `#`, which browsers never send: the secret of a link of `wavepool up`, or a token.
export interface Brought {
  link: string;
  token: string;
}

// Takes the token of a link that somebody opened. A link may come from anybody, so an account that the page has
// already is never changed without a question. True if the page has another token then.
export async function adopt({ link, token: named }: Brought): Promise<boolean> {
  const offered = link ? (await exchanged({ link })).token : named;
  const current = store.token();
  if (offered === current) return false;
  const next = await working(offered);
  if (!next) throw new ApiError(0, "The token of this link is unknown, revoked or expired.");
  const before = current ? await working(current) : null;
  if (before && (mayAsMuch(before, next) || !(isSame(before, next) || window.confirm(question(before, next))))) {
    if (link) await revoke(next.token_id, offered);
    return false;
  }
  const own = await accept(offered, next);
  if (link && own.id) await revoke(next.token_id, own.token);
  return true;
}

// The page has this token from now on, or rather one of its own.
export async function accept(offered: string, me: Me): Promise<OwnToken> {
  const own = await ownToken(offered, me);
  store.rememberToken(own.token);
  store.rememberSignedIn(own.id);
  return own;
}

function isSame(one: Me, other: Me): boolean {
  return one.user_id === other.user_id && one.account_id === other.account_id;
}

function mayAsMuch(before: Me, next: Me): boolean {
  return isSame(before, next) && next.scopes.every((scope) => before.scopes.includes(scope));
}

function question(before: Me, next: Me): string {
  const name = nameOf(next);
  return (
    `This link changes the account of this page from ${nameOf(before)} to ${name}. ` +
    `What you submit then belongs to ${name}. Change it?`
  );
}

// Whose token it is; null if it does not work.
export async function working(token: string): Promise<Me | null> {
  try {
    return await given(api.GET("/api/v1/me", bearer(token)));
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) return null;
    throw error;
  }
}

// The user, with the account that pays if it is another's.
export function nameOf(me: Me): string {
  return me.user_name === me.account_name ? me.user_name : `${me.user_name} (${me.account_name})`;
}

// Revokes the token if a sign-in made it; one that was typed in may be in use elsewhere.
export async function signOut(): Promise<void> {
  const id = store.signedIn();
  if (id) await revoke(id, store.token());
}

async function revoke(tokenId: string, token: string): Promise<void> {
  await api.DELETE("/api/v1/tokens/{token_id}", { params: { path: { token_id: tokenId } }, ...bearer(token) });
}

function exchanged(body: Schemas["SignInRequest"]): Promise<Schemas["SignedIn"]> {
  return given(api.POST("/api/v1/sign-in", { body, ...bearer("") }));
}

function redirectUri(): string {
  return `${location.origin}/`;
}

function random(): string {
  return base64url(crypto.getRandomValues(new Uint8Array(32)));
}

async function challenge(verifier: string): Promise<string> {
  return base64url(new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier))));
}

function base64url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replace(/=+$/, "");
}
