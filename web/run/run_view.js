// Shows the run that is being followed.

import { byId, element } from "../page/dom.js";
import { dollars, seconds } from "../page/format.js";
import { endTitle, outcome, statusKind } from "./outcome_view.js";

export class RunView {
  constructor(goTo) {
    this.goTo = goTo;
    this.run = null;
    this.announced = "";
    setInterval(() => this.#tick(), 100);
  }

  show(run) {
    this.run = run;
    if (this.isDrawing) return;
    this.isDrawing = true;
    requestAnimationFrame(() => {
      this.isDrawing = false;
      this.#draw();
    });
  }

  #draw() {
    const { run } = this;
    byId("run").hidden = false;
    const badge = byId("run-status");
    badge.textContent = run.final ? endTitle(run.final.status, run.final.data) : "Running";
    badge.className = `badge ${run.final ? statusKind(run.final.status) : "live"}`;
    byId("run-line").textContent = run.final ? (run.device?.title ?? run.final.data.device_title ?? "") : run.line;
    byId("run-cost").textContent = run.costUsd ? dollars(run.costUsd) : "";
    byId("cancel-button").hidden = run.final !== null;
    byId("report-button").hidden = !run.final?.data.has_report;
    byId("stages").replaceChildren(...run.stages.map((stage) => this.#stage(stage)));
    byId("outcome").replaceChildren(...outcome(run, this.goTo));
    this.#announce(run.final ? `${endTitle(run.final.status, run.final.data)}. ${run.final.data.message ?? ""}` : run.line);
  }

  #stage(stage) {
    const words = { waiting: "not yet", active: "now", done: "done", failed: "ended here" };
    return element(
      "li",
      { className: `stage ${stage.state}`, "aria-current": stage.state === "active" ? "step" : null },
      element(
        "span",
        { className: "stage-name" },
        stage.name,
        element("span", { className: "visually-hidden" }, `, ${words[stage.state]}`),
      ),
      element("span", { className: "stage-time" }, this.#elapsed(stage)),
    );
  }

  #elapsed({ begin, end, state }) {
    if (begin === null) return "";
    const offset = Number.isFinite(this.run.clockOffsetMs) ? this.run.clockOffsetMs : 0;
    return seconds(((end ?? (state === "active" ? Date.now() - offset : begin)) - begin) / 1000);
  }

  #tick() {
    if (!this.run || this.run.final) return;
    const at = this.run.stages.findIndex((stage) => stage.state === "active");
    const shown = byId("stages").children[at]?.querySelector(".stage-time");
    if (shown) shown.textContent = this.#elapsed(this.run.stages[at]);
  }

  #announce(text) {
    if (text === this.announced) return;
    this.announced = text;
    byId("live-status").textContent = text;
  }
}
