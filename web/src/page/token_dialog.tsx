// Asks for the API token, or sends people to the identity provider if the gateway has one.

import { useQuery } from "@tanstack/preact-query";
import { useEffect, useRef, useState } from "preact/hooks";
import { Link } from "wouter-preact";
import type { ApiError } from "../gateway/api_error";
import { api, bearer, given, type Schemas } from "../gateway/client";
import { goOnWithToken } from "../gateway/event_stream";
import * as queries from "../gateway/queries";
import * as signIn from "../gateway/sign_in";
import { userAddress } from "./addresses";
import { alert, asksForToken, hasToken } from "./alert";
import * as store from "./store";

export function TokenDialog() {
  const reason = asksForToken.value;
  const dialog = useRef<HTMLDialogElement>(null);
  const input = useRef<HTMLInputElement>(null);
  const [failure, setFailure] = useState("");
  const [canSignIn, setCanSignIn] = useState(false);
  // Of a token that has ended, it is the way in that is wanted.
  const me = useQuery({ ...queries.me, enabled: hasToken.value && reason === "" }).data;
  const user = hasToken.value && reason === "" ? me : undefined;
  useEffect(() => {
    if (reason === null) {
      dialog.current?.close();
      return;
    }
    setFailure(reason);
    if (!dialog.current?.open) dialog.current?.showModal();
    if (input.current) input.current.value = store.signedIn() ? "" : store.token();
    input.current?.select();
  }, [reason]);

  async function accept(): Promise<void> {
    const offered = input.current?.value.trim() ?? "";
    try {
      await signIn.accept(offered, await given(api.GET("/api/v1/me", bearer(offered))));
    } catch (error) {
      setFailure((error as ApiError).message);
      return;
    }
    asksForToken.value = null;
    alert.value = null;
    hasToken.value = true;
    goOnWithToken();
    await queries.queries.resetQueries();
  }

  async function forget(): Promise<void> {
    try {
      await signIn.signOut();
    } catch (error) {
      // A token that has ended already needs no end.
      if ((error as ApiError).status !== 401) {
        setFailure(`${(error as ApiError).message} The token was not revoked.`);
        return;
      }
    }
    store.rememberSignedIn("");
    store.rememberToken("");
    store.rememberProblem("");
    store.forgetRequest();
    location.assign("/");
  }

  return (
    <dialog
      id="token-dialog"
      class="dialog"
      aria-labelledby="token-heading"
      ref={dialog}
      onClose={() => {
        asksForToken.value = null;
      }}
    >
      <form
        id="token-form"
        onSubmit={(event) => {
          event.preventDefault();
          void accept();
        }}
      >
        <h2 id="token-heading">{user ? `Signed in as ${signIn.nameOf(user)}` : "Sign in"}</h2>
        {user ? (
          <p>
            <Link
              href={userAddress(user.user_name)}
              onClick={() => {
                asksForToken.value = null;
              }}
            >
              Your profile
            </Link>
          </p>
        ) : null}
        {reason === null ? null : <SignInOffer onFailure={setFailure} onOffer={setCanSignIn} />}
        <details class="token-part" open={!canSignIn && !user}>
          <summary>{user ? "With another API token" : "With an API token"}</summary>
          <p>
            <code>wavepool up</code> prints a link that signs you in once, and leaves a token in{" "}
            <code>.wavepool/token</code>. This browser makes a token of its own of it, for 30 days, and remembers that.
          </p>
          <label class="field-label" for="token-input">
            Token
          </label>
          <input id="token-input" type="password" autocomplete="off" spellcheck={false} required ref={input} />
          <button class="button primary" type="submit">
            Use this token
          </button>
        </details>
        <p id="token-error" class="field-error" role="alert" hidden={!failure}>
          {failure}
        </p>
        <div class="dialog-actions">
          {store.token() ? (
            <button id="token-forget" class="button" type="button" onClick={() => void forget()}>
              {store.signedIn() ? "Sign out" : "Forget this token"}
            </button>
          ) : null}
        </div>
      </form>
    </dialog>
  );
}

function SignInOffer({
  onFailure,
  onOffer,
}: {
  onFailure: (reason: string) => void;
  onOffer: (isThere: boolean) => void;
}) {
  const [options, setOptions] = useState<Schemas["SignInOptions"] | null>(null);
  const [hint, setHint] = useState("");
  useEffect(() => {
    // Asked for again each time: it may have been set up meanwhile.
    queries.queries.fetchQuery({ ...queries.signInOptions, staleTime: 0 }).then(
      (offer) => {
        setOptions(offer.enabled ? offer : null);
        onOffer(offer.enabled);
        setHint(offer.enabled ? `at ${new URL(offer.issuer).host}` : "");
      },
      (error: ApiError) => setHint(`Nobody can sign in now: ${error.message}`),
    );
  }, [onOffer]);
  if (!options && !hint) return null;
  return (
    <div id="sign-in" class="sign-in">
      {options ? (
        <button
          id="sign-in-button"
          class="button primary"
          type="button"
          onClick={() => signIn.leaveFor(options).catch((error: ApiError) => onFailure(error.message))}
        >
          Sign in
        </button>
      ) : null}
      <span id="sign-in-hint">{hint}</span>
    </div>
  );
}
