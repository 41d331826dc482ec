// Copies a text. Browsers may not allow it, and have no clipboard at all on pages that are neither https nor on this machine.

import { useState } from "preact/hooks";

export function CopyButton({ text }: { text: string }) {
  const [news, setNews] = useState("");
  async function copy(): Promise<void> {
    try {
      await navigator.clipboard.writeText(text);
      setNews("Copied.");
    } catch {
      setNews("This browser does not allow it here: select the text and copy it.");
    }
  }
  return (
    <>
      <button class="button small" type="button" onClick={() => void copy()}>
        Copy
      </button>
      <span class="hint" role="status">
        {news}
      </span>
    </>
  );
}
