// Begins: takes what a link or an identity provider brought, then shows the application.

import { render } from "preact";
import { navigate } from "wouter-preact/use-browser-location";
import { App } from "./app";
import { ApiError } from "./gateway/api_error";
import { adopt, finish, takeAnswer } from "./gateway/sign_in";
import { addressOfOldLink, takeBrought } from "./page/addresses";
import { asksForToken, guarded, hasToken, showFailure } from "./page/alert";
import * as store from "./page/store";
import { applyTheme } from "./page/theme";
import "./styles/main.css";

// What was brought leaves the address before anything is asked for.
async function begin(): Promise<void> {
  const answer = takeAnswer();
  const brought = takeBrought();
  const failure = await (answer ? finish(answer) : brought ? adopt(brought) : Promise.resolve()).then(
    () => null,
    (error: unknown) => error,
  );
  followOldLink();
  hasToken.value = store.token() !== "";
  if (!failure) return;
  const asksAgain = failure instanceof ApiError && (!hasToken.value || answer);
  if (asksAgain) asksForToken.value = failure.line;
  else showFailure(failure);
}

// What an open page shows belongs to the account before; drafts stay.
const adoptOther = guarded(async () => {
  const brought = takeBrought();
  if (brought && (await adopt(brought))) location.reload();
});

function followOldLink(): void {
  const address = addressOfOldLink(location.hash);
  if (address) navigate(address, { replace: true });
}

applyTheme();
window.addEventListener("hashchange", () => {
  void adoptOther();
  followOldLink();
});
store.onTokenOfAnotherTab(() => location.reload());
begin().finally(() => render(<App />, document.getElementById("app") as HTMLElement));
