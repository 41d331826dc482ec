// Tells people who look elsewhere that a run has ended. They are asked after the first long wait, and never before.

import { useEffect, useRef, useState } from "preact/hooks";
import type { Run } from "./run_state";
import { runTitle } from "./tab_state";

const LONG_WAIT_MS = 30_000;
// A run that was over already ends at once.
const NEWS_MS = 3000;

export function Notifier({ run, problem }: { run: Run; problem: string }) {
  const isOver = run.final !== null;
  const begunMs = useRef(Date.now());
  const [isLong, setLong] = useState(false);
  const [permission, setPermission] = useState(currentPermission);
  useEffect(() => {
    if (isOver) return;
    const timer = setTimeout(() => setLong(true), LONG_WAIT_MS);
    return () => clearTimeout(timer);
  }, [isOver]);
  useEffect(() => {
    if (isOver && document.hidden && Date.now() - begunMs.current > NEWS_MS) tell(run, problem);
  }, [isOver]);
  if (isOver || !isLong || permission !== "default") return null;
  return (
    <button
      id="notify-button"
      class="button small"
      type="button"
      onClick={async () => setPermission(await Notification.requestPermission())}
    >
      Notify me when it ends
    </button>
  );
}

// Browsers have notifications on https pages and on this machine only.
function currentPermission(): NotificationPermission {
  return typeof Notification === "undefined" ? "denied" : Notification.permission;
}

function tell(run: Run, problem: string): void {
  if (currentPermission() !== "granted") return;
  try {
    const notification = new Notification(runTitle(run, problem), { body: run.final?.message ?? "" });
    notification.onclick = () => window.focus();
  } catch {
    // Browsers of phones have them for service workers alone; the title says it too.
  }
}
