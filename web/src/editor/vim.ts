// The keys of vim, in a file of their own.

import { EditorView } from "@codemirror/view";
import { vim as keys } from "@replit/codemirror-vim";

const look = EditorView.theme({
  ".cm-vim-panel": { padding: "2px 10px", minHeight: "1.3em", fontFamily: "var(--mono)" },
  ".cm-vim-panel input": { color: "var(--text)" },
  "&.cm-focused .cm-fat-cursor": { background: "var(--accent)", color: "var(--on-accent) !important" },
  "&:not(.cm-focused) .cm-fat-cursor": { background: "none", outline: "1px solid var(--accent)" },
});

export const vim = () => [keys({ status: true }), look];
