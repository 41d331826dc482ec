// What every page begins with.

import { useQuery } from "@tanstack/preact-query";
import { Link } from "wouter-preact";
import { costs, me } from "../gateway/queries";
import { nameOf } from "../gateway/sign_in";
import icon from "../icon.svg";
import { pages } from "../pages";
import { asksForToken, hasToken } from "./alert";
import { dollars } from "./format";
import { switchTheme } from "./theme";

export function Header() {
  return (
    <header class="site-header">
      <button type="button" class="skip-link" onClick={skipToContent}>
        Skip to the content
      </button>
      <Link class="brand" href={pages.home} aria-label="Wavepool, start again">
        <img src={icon} alt="" width="28" height="28" />
        <span>Wavepool</span>
      </Link>
      <nav class="header-actions" aria-label="Account and settings">
        {hasToken.value ? <Credit /> : null}
        <Link class="quiet-link" href={pages.problems}>
          Problems
        </Link>
        {hasToken.value ? (
          <>
            <Link class="quiet-link" href={pages.sandbox}>
              Sandbox
            </Link>
            <Link class="quiet-link" href={pages.submissions}>
              Submissions
            </Link>
          </>
        ) : null}
        <Link class="quiet-link" href={pages.leaderboard}>
          Leaderboard
        </Link>
        <Link class="quiet-link" href={pages.documentation}>
          API
        </Link>
        <button
          id="theme-button"
          class="icon-button"
          type="button"
          aria-label="Switch between light and dark"
          onClick={switchTheme}
        >
          <svg viewBox="0 0 24 24" width="20" height="20" aria-hidden="true">
            <circle cx="12" cy="12" r="8" fill="none" stroke="currentColor" stroke-width="2" />
            <path d="M12 4a8 8 0 0 1 0 16z" fill="currentColor" />
          </svg>
        </button>
        <button
          id="token-button"
          class="button person"
          type="button"
          onClick={() => {
            asksForToken.value = "";
          }}
        >
          {hasToken.value ? <Name /> : "Sign in"}
        </button>
      </nav>
    </header>
  );
}

function Credit() {
  const credit = useQuery(costs).data?.available_usd;
  return credit === undefined ? null : (
    <span id="credit" class="credit">
      {dollars(credit)} credit
    </span>
  );
}

function Name() {
  const user = useQuery(me).data;
  return <span id="who">{user ? nameOf(user) : "Account"}</span>;
}

// Past what every page begins with: to the editor if there is one.
function skipToContent() {
  const main = document.querySelector("main");
  const editor = main?.querySelector("#editor")?.shadowRoot?.getElementById("code");
  const isShown = Boolean(editor?.getClientRects().length);
  if (main && !isShown) main.tabIndex = -1;
  (isShown ? editor : main)?.focus();
}
