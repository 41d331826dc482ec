// How the editor looks.

import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";

// Colours are variables of the page, which go through into a shadow root; so both themes are right.
export const colours = syntaxHighlighting(
  HighlightStyle.define([
    { tag: [tags.keyword, tags.modifier, tags.operatorKeyword, tags.controlKeyword], color: "var(--token-keyword)" },
    { tag: [tags.typeName, tags.className, tags.namespace], color: "var(--token-type)" },
    { tag: [tags.string, tags.character, tags.special(tags.string)], color: "var(--token-string)" },
    { tag: [tags.number, tags.bool, tags.null], color: "var(--token-number)" },
    { tag: [tags.comment, tags.lineComment, tags.blockComment], color: "var(--token-comment)", fontStyle: "italic" },
    { tag: [tags.processingInstruction, tags.meta], color: "var(--token-directive)" },
  ]),
);
export const look = EditorView.theme({
  "&": { height: "100%", color: "var(--text)", backgroundColor: "var(--sunken)", fontSize: "var(--code-size, 14px)" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.5" },
  ".cm-content": { padding: "12px 0", caretColor: "var(--text)" },
  ".cm-line": { padding: "0 14px 0 8px" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  ".cm-gutters": {
    color: "var(--muted)",
    backgroundColor: "var(--sunken)",
    borderRight: "1px solid var(--line)",
  },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "color-mix(in srgb, var(--accent) 8%, transparent)" },
  "&.cm-focused .cm-selectionBackground, .cm-selectionBackground": {
    background: "color-mix(in srgb, var(--accent) 30%, transparent)",
  },
  "&.cm-focused .cm-matchingBracket": { backgroundColor: "color-mix(in srgb, var(--accent) 30%, transparent)" },
  // Those of the library are pictures in its style sheet, which the page's policy does not load.
  ".cm-lint-marker": { width: "auto", height: "auto" },
  ".cm-lint-marker-error, .cm-lint-marker-warning, .cm-lint-marker-info": { content: "normal" },
  ".cm-lint-marker::before": { content: '"●"' },
  ".cm-lint-marker-error": { color: "var(--bad)" },
  ".cm-lint-marker-warning": { color: "var(--warn)" },
  ".cm-lint-marker-warning::before": { content: '"▲"' },
  ".cm-lintRange": { backgroundImage: "none !important", textDecoration: "underline wavy 1px" },
  ".cm-lintRange-error": { textDecorationColor: "var(--bad)" },
  ".cm-lintRange-warning": { textDecorationColor: "var(--warn)" },
  ".cm-tooltip, .cm-panels": { color: "var(--text)", backgroundColor: "var(--card)", borderColor: "var(--line)" },
  ".cm-completionMatchedText": { textDecoration: "none", fontWeight: "700" },
  ".cm-search :is(input, button, label)": { fontSize: "13px" },
  ".cm-tooltip-autocomplete": { fontSize: "13px" },
  ".cm-tooltip-autocomplete ul li[aria-selected]": { color: "var(--on-accent)", backgroundColor: "var(--accent)" },
  ".cm-diagnostic": { maxWidth: "60ch", fontFamily: "var(--mono)", fontSize: "13px", whiteSpace: "pre-wrap" },
  ".cm-textfield, .cm-button": {
    color: "var(--text)",
    background: "var(--sunken)",
    border: "1px solid var(--line)",
    borderRadius: "6px",
  },
  // Backgrounds are lost then, but for those of the system.
  "@media (forced-colors: active)": {
    ".cm-tooltip-autocomplete ul li[aria-selected]": {
      forcedColorAdjust: "none",
      color: "HighlightText",
      backgroundColor: "Highlight",
    },
    ".cm-searchMatch, .cm-matchingBracket": { outline: "1px solid CanvasText" },
    ".cm-searchMatch-selected": { outline: "3px solid Highlight" },
  },
});
