// Earlier texts of the draft: one is opened, and may then be used.

import { useEffect, useRef, useState } from "preact/hooks";
import { ago } from "../page/format";
import type { Source } from "../workbench/source";
import { lines, type Version } from "./versions";

export function Versions({ source }: { source: Source }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [versions, setVersions] = useState<Version[] | null>(null);
  const isOpen = versions !== null;
  useEffect(() => {
    if (isOpen) dialog.current?.showModal();
  }, [isOpen]);
  const open = (version: Version) => {
    source.show({ title: `your version of ${instant(version)}`, code: version.code });
    dialog.current?.close();
  };
  return (
    <>
      <button
        id="versions-button"
        class="button small"
        type="button"
        onClick={() => source.versions().then(setVersions, () => setVersions([]))}
      >
        Versions
      </button>
      <dialog
        id="versions"
        class="dialog"
        aria-labelledby="versions-heading"
        ref={dialog}
        onClose={() => setVersions(null)}
      >
        <h2 id="versions-heading">Versions of this draft</h2>
        <p>
          {versions?.length
            ? "The last 30 are in this browser. Open one to read it, and to use it again."
            : "There is none yet. One is kept when you run your text, when something replaces it, and every two minutes while you type."}
        </p>
        <ul class="versions">
          {versions?.map((version) => (
            <li key={version.at}>
              <button class="button small" type="button" onClick={() => open(version)}>
                Open
              </button>
              <span>
                {`${ago(new Date(version.at).toISOString())}, ${version.why}`}
                <span class="hint">{` ${instant(version)}, ${lines(version.code)}`}</span>
              </span>
            </li>
          ))}
        </ul>
        <form method="dialog" class="dialog-actions">
          <button class="button primary" type="submit">
            Close
          </button>
        </form>
      </dialog>
    </>
  );
}

function instant({ at }: Version): string {
  return new Date(at).toLocaleString();
}
