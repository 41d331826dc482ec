// The editor of a source: CodeMirror in a shadow root, as the page's policy allows style sheets of its own files only.

import { autocompletion, closeBrackets, closeBracketsKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { cpp } from "@codemirror/lang-cpp";
import {
  bracketMatching,
  foldGutter,
  foldKeymap,
  HighlightStyle,
  indentOnInput,
  indentUnit,
  syntaxHighlighting,
} from "@codemirror/language";
import { lintGutter, lintKeymap, type Diagnostic as Mark, setDiagnostics } from "@codemirror/lint";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { Annotation, EditorState, Prec } from "@codemirror/state";
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
} from "@codemirror/view";
import { tags } from "@lezer/highlight";
import type { Diagnostic } from "../run/diagnostics";

const INDENT = "    ";
const byProgram = Annotation.define<boolean>();

// Colours are variables of the page, which go through into a shadow root; so both themes are right.
const colours = syntaxHighlighting(
  HighlightStyle.define([
    { tag: [tags.keyword, tags.modifier, tags.operatorKeyword, tags.controlKeyword], color: "var(--token-keyword)" },
    { tag: [tags.typeName, tags.className, tags.namespace], color: "var(--token-type)" },
    { tag: [tags.string, tags.character, tags.special(tags.string)], color: "var(--token-string)" },
    { tag: [tags.number, tags.bool, tags.null], color: "var(--token-number)" },
    { tag: [tags.comment, tags.lineComment, tags.blockComment], color: "var(--token-comment)", fontStyle: "italic" },
    { tag: [tags.processingInstruction, tags.meta], color: "var(--token-directive)" },
  ]),
);
const look = EditorView.theme({
  "&": { height: "100%", color: "var(--text)", backgroundColor: "var(--sunken)", fontSize: "14px" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "21px" },
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
  ".cm-lintRange": { backgroundImage: "none !important", textDecoration: "underline wavy 1px" },
  ".cm-lintRange-error": { textDecorationColor: "var(--bad)" },
  ".cm-lintRange-warning": { textDecorationColor: "var(--warn)" },
  ".cm-tooltip, .cm-panels": { color: "var(--text)", backgroundColor: "var(--card)", borderColor: "var(--line)" },
  ".cm-diagnostic": { fontFamily: "var(--mono)", fontSize: "13px", whiteSpace: "pre-wrap" },
  ".cm-textfield, .cm-button": {
    color: "var(--text)",
    background: "var(--sunken)",
    border: "1px solid var(--line)",
    borderRadius: "6px",
  },
});

// Chromium gives what is typed over a selection the style of that, in the element, which the page's policy does not
// allow; so what is typed there does not go through the browser.
const typedOverSelection = EditorView.domEventHandlers({
  beforeinput(event, view) {
    const { data: text } = event;
    // The browser's own selection: the editor hears of a new one a moment later. Only Chromium has it in a shadow root.
    const selected = "getSelection" in view.root ? (view.root as Document).getSelection() : null;
    if (event.inputType !== "insertText" || text === null || view.composing) return false;
    if (!selected?.anchorNode || !selected.focusNode) return false;
    const anchor = view.posAtDOM(selected.anchorNode, selected.anchorOffset);
    const focus = view.posAtDOM(selected.focusNode, selected.focusOffset);
    const [from, to] = [Math.min(anchor, focus), Math.max(anchor, focus)];
    if (from === to) return false;
    event.preventDefault();
    const changes = { from, to, insert: view.state.toText(text) };
    const selection = { anchor: from + changes.insert.length };
    const insert = () => view.state.update({ changes, selection, userEvent: "input.type", scrollIntoView: true });
    const handlers = view.state.facet(EditorView.inputHandler);
    if (!handlers.some((handles) => handles(view, from, to, text, insert))) view.dispatch(insert());
    return true;
  },
});

export interface EditorCalls {
  onChange: (code: string) => void;
  onSubmit: () => void;
  onSample: () => void;
}

export class Editor {
  readonly #view: EditorView;

  constructor(host: HTMLElement, { onChange, onSubmit, onSample }: EditorCalls) {
    const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
    const key = (name: string, run: () => void) => ({
      key: name,
      run: () => {
        run();
        return true;
      },
    });
    this.#view = new EditorView({
      root,
      parent: root,
      extensions: [
        Prec.highest(keymap.of([key("Mod-Enter", onSubmit), key("Mod-'", onSample)])),
        typedOverSelection,
        lineNumbers(),
        lintGutter(),
        foldGutter(),
        history(),
        drawSelection(),
        EditorState.allowMultipleSelections.of(true),
        EditorState.tabSize.of(INDENT.length),
        indentUnit.of(INDENT),
        indentOnInput(),
        bracketMatching(),
        closeBrackets(),
        autocompletion(),
        highlightActiveLine(),
        highlightActiveLineGutter(),
        highlightSelectionMatches(),
        cpp(),
        colours,
        look,
        keymap.of([
          ...closeBracketsKeymap,
          ...searchKeymap,
          ...historyKeymap,
          ...foldKeymap,
          ...lintKeymap,
          ...defaultKeymap,
          indentWithTab,
        ]),
        EditorView.contentAttributes.of({
          id: "code",
          tabindex: "0",
          "aria-label": "HIP source",
          spellcheck: "false",
          autocapitalize: "off",
          autocorrect: "off",
        }),
        EditorView.updateListener.of(({ docChanged, transactions, state }) => {
          const isOurs = transactions.some((one) => one.annotation(byProgram));
          if (docChanged && !isOurs) onChange(state.doc.toString());
        }),
      ],
    });
  }

  get code(): string {
    return this.#view.state.doc.toString();
  }

  // False on a narrow screen that shows another part of the page.
  get isShown(): boolean {
    return this.#view.dom.getClientRects().length > 0;
  }

  // Undo brings back what was there before.
  set code(text: string) {
    const { doc } = this.#view.state;
    if (doc.toString() === text) return;
    this.#view.dispatch({
      changes: { from: 0, to: doc.length, insert: text },
      selection: { anchor: 0 },
      annotations: byProgram.of(true),
      scrollIntoView: true,
    });
    this.mark([]);
  }

  // Shows what a compiler said at its lines, and brings the first into view.
  mark(diagnostics: Diagnostic[]): void {
    const { state } = this.#view;
    const marks: Mark[] = diagnostics
      .filter(({ line }) => line <= state.doc.lines)
      .map(({ line, column, severity, message }) => {
        const { from, to } = state.doc.line(line);
        return { from: Math.min(from + column - 1, to), to, severity, message };
      });
    this.#view.dispatch(setDiagnostics(state, marks));
    const [first] = marks;
    if (first) this.#view.dispatch({ effects: EditorView.scrollIntoView(first.from, { y: "center" }) });
  }

  goTo(line: number, column = 1): void {
    const { doc } = this.#view.state;
    const { from, to } = doc.line(Math.min(line, doc.lines));
    const anchor = Math.min(from + column - 1, to);
    this.#view.focus();
    this.#view.dispatch({
      selection: { anchor, head: to },
      effects: EditorView.scrollIntoView(anchor, { y: "center" }),
    });
  }

  focus(): void {
    this.#view.focus();
  }

  close(): void {
    this.#view.destroy();
  }
}
