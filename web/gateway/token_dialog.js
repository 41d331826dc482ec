// Asks for the API token, or sends people to the identity provider if the gateway has one.

import { byId } from "../page/dom.js";
import { rememberSignedIn, rememberToken, signedIn, token } from "../page/session.js";
import { call } from "./api.js";
import * as signIn from "./sign_in.js";

export class TokenDialog {
  constructor(onAccepted) {
    this.dialog = byId("token-dialog");
    this.onAccepted = onAccepted;
    byId("token-form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.#accept();
    });
    byId("token-forget").addEventListener("click", () => this.#forget());
    byId("sign-in-button").addEventListener("click", () => this.#leave());
  }

  open(reason = "") {
    byId("token-input").value = signedIn() ? "" : token();
    byId("token-forget").textContent = signedIn() ? "Sign out" : "Forget";
    this.#complain(reason);
    this.#offerSignIn();
    if (!this.dialog.open) this.dialog.showModal();
    byId("token-input").select();
  }

  async #offerSignIn() {
    try {
      this.options = await signIn.options();
    } catch (error) {
      byId("sign-in-hint").textContent = `Nobody can sign in now: ${error.message}`;
      byId("sign-in").hidden = false;
      byId("sign-in-button").hidden = true;
      return;
    }
    const { enabled, issuer } = this.options;
    byId("sign-in").hidden = !enabled;
    byId("sign-in-button").hidden = !enabled;
    byId("sign-in-hint").textContent = enabled ? `at ${new URL(issuer).host}; or use an API token:` : "";
  }

  async #leave() {
    try {
      await signIn.leaveFor(this.options);
    } catch (error) {
      this.#complain(error.message);
    }
  }

  async #forget() {
    try {
      await signIn.signOut();
    } catch (error) {
      // A token that has ended already needs no end.
      if (error.status !== 401) {
        this.#complain(`${error.message} The token was not revoked.`);
        return;
      }
    }
    rememberSignedIn("");
    rememberToken("");
    location.assign("/");
  }

  async #accept() {
    rememberToken(byId("token-input").value.trim());
    rememberSignedIn("");
    try {
      await call("GET", "/api/v1/me");
    } catch (error) {
      this.#complain(error.message);
      return;
    }
    this.dialog.close();
    byId("alert").hidden = true;
    await this.onAccepted();
  }

  #complain(reason) {
    byId("token-error").textContent = reason;
    byId("token-error").hidden = !reason;
  }
}
