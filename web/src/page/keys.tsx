// Keys that work on every page, and the list of all.

import { useEffect, useRef, useState } from "preact/hooks";
import { navigate } from "wouter-preact/use-browser-location";
import { pages } from "../pages";

const GO_MS = 1500;
const PLACES: Record<string, string> = {
  h: pages.home,
  p: pages.problems,
  s: pages.submissions,
  l: pages.leaderboard,
  a: pages.documentation,
};
const KEYS: [string, string][] = [
  ["Ctrl or Cmd + Enter", "run the source"],
  ["Ctrl or Cmd + '", "run its sample"],
  ["F8, Shift + F8", "go to the compiler's next diagnostic, or to the one before"],
  ["Escape, then Tab", "leave the editor"],
  ["/", "search"],
  ["g h", "go to the first page"],
  ["g p", "go to the problems"],
  ["g s", "go to your submissions"],
  ["g l", "go to the leaderboard"],
  ["g a", "go to the interface's documentation"],
  ["?", "show this list"],
];

export function Keys() {
  const dialog = useRef<HTMLDialogElement>(null);
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    if (isOpen) dialog.current?.showModal();
  }, [isOpen]);
  useEffect(() => {
    let wentAt = Number.NEGATIVE_INFINITY;
    function onKey(event: KeyboardEvent): void {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event)) return;
      const place = event.timeStamp - wentAt < GO_MS ? PLACES[event.key] : undefined;
      wentAt = event.key === "g" ? event.timeStamp : Number.NEGATIVE_INFINITY;
      if (place) navigate(place);
      else if (event.key === "?") setOpen(true);
      else if (event.key === "/") {
        event.preventDefault();
        document.getElementById("search")?.focus();
      }
    }
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);
  return (
    <dialog class="dialog" aria-labelledby="keys-heading" ref={dialog} onClose={() => setOpen(false)}>
      <h2 id="keys-heading">Keys</h2>
      <dl class="keys">
        {KEYS.map(([key, effect]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{effect}</dd>
          </div>
        ))}
      </dl>
      <form method="dialog" class="dialog-actions">
        <button class="button primary" type="submit">
          Close
        </button>
      </form>
    </dialog>
  );
}

// What is typed into a field or the editor is no key of the page.
function isTyping(event: KeyboardEvent): boolean {
  const [target] = event.composedPath();
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName);
}
