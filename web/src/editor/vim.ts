// The keys of vim, in a file of their own.

import { EditorView } from "@codemirror/view";
import { vim as keys } from "@replit/codemirror-vim";

const look = EditorView.theme({
  ".cm-vim-panel": { padding: "2px 10px", minHeight: "1.3em", fontFamily: "var(--mono)" },
  ".cm-vim-panel input": { color: "var(--text)" },
  "&.cm-focused .cm-fat-cursor": { background: "var(--accent)", color: "var(--on-accent) !important" },
  "&:not(.cm-focused) .cm-fat-cursor": { background: "none", outline: "1px solid var(--accent)" },
});

// Vim takes Escape for itself, and Tab after it; the editor would let Tab go on for as long.
const LEAVE_MS = 2000;
const leaving = EditorView.domEventObservers({
  keydown: ({ key }, view) => {
    if (key === "Escape") view.setTabFocusMode(LEAVE_MS);
  },
});

export const vim = () => [keys({ status: true }), leaving, look];
