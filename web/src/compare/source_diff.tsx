// Two texts and how they differ, by CodeMirror: in a shadow root, as the page's policy allows no other styles of its.

import { MergeView, unifiedMergeView } from "@codemirror/merge";
import { EditorState, type Extension } from "@codemirror/state";
import { EditorView, lineNumbers } from "@codemirror/view";
import { useLayoutEffect, useRef } from "preact/hooks";

// Narrower than this, one text stands in the other.
const BOTH_PX = 700;
const UNCHANGED = { collapseUnchanged: { margin: 3, minSize: 6 }, diffConfig: { scanLimit: 1000, timeout: 1000 } };
const look = EditorView.theme({
  "&": { color: "var(--text)", backgroundColor: "var(--sunken)", fontSize: "13px" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "20px" },
  ".cm-gutters": { color: "var(--muted)", backgroundColor: "var(--sunken)", borderRight: "1px solid var(--line)" },
  ".cm-changedLine, .cm-inlineChangedLine, .cm-insertedLine": { backgroundColor: "var(--good-soft) !important" },
  "&.cm-merge-a .cm-changedLine, .cm-deletedChunk": { backgroundColor: "var(--bad-soft) !important" },
  ".cm-changedText": { background: "color-mix(in srgb, var(--accent) 30%, transparent) !important" },
  ".cm-deletedChunk .cm-deletedText": { background: "color-mix(in srgb, var(--bad) 30%, transparent) !important" },
  // The library's marks are in few fonts.
  ".cm-collapsedLines:before, .cm-collapsedLines:after": { content: '""' },
  ".cm-collapsedLines": { color: "var(--muted)", background: "var(--card) !important" },
  // Backgrounds are lost then, but for those of the system.
  "@media (forced-colors: active)": {
    ".cm-changedText, .cm-deletedChunk .cm-deletedText": {
      forcedColorAdjust: "none",
      background: "Mark !important",
      color: "MarkText",
    },
    ".cm-changedLineGutter, .cm-deletedLineGutter": { background: "CanvasText" },
  },
});

export default function SourceDiff({ base, other, label }: { base: string; other: string; label: string }) {
  const host = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const shown = show(host.current as HTMLDivElement, base, other, label);
    return () => shown.destroy();
  }, [base, other, label]);
  return <div class="diff" ref={host} />;
}

function show(host: HTMLElement, base: string, other: string, label: string): { destroy: () => void } {
  const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
  if (host.clientWidth < BOTH_PX) {
    const unified = unifiedMergeView({ original: base, mergeControls: false, ...UNCHANGED });
    const extensions = [...still(`Differences of the ${label}`), EditorView.lineWrapping, unified];
    return new EditorView({ root, parent: root, state: EditorState.create({ doc: other, extensions }) });
  }
  return new MergeView({
    root,
    parent: root,
    a: { doc: base, extensions: still(`Base's ${label}`) },
    b: { doc: other, extensions: still(`Other's ${label}`) },
    ...UNCHANGED,
  });
}

// People read and copy it with the keyboard too, and change nothing.
function still(label: string): Extension[] {
  return [
    EditorState.readOnly.of(true),
    EditorView.contentAttributes.of({ "aria-label": label, "aria-readonly": "true" }),
    lineNumbers(),
    look,
  ];
}
