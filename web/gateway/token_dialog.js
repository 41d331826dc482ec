// Asks for the API token.

import { byId } from "../page/dom.js";
import { rememberToken, token } from "../page/session.js";
import { call } from "./api.js";

export class TokenDialog {
  constructor(onAccepted) {
    this.dialog = byId("token-dialog");
    this.onAccepted = onAccepted;
    byId("token-form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.#accept();
    });
    byId("token-forget").addEventListener("click", () => {
      rememberToken("");
      location.assign("/");
    });
  }

  open(reason = "") {
    byId("token-input").value = token();
    this.#complain(reason);
    if (!this.dialog.open) this.dialog.showModal();
    byId("token-input").select();
  }

  async #accept() {
    rememberToken(byId("token-input").value.trim());
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
