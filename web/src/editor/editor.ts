// The editor of a source: CodeMirror in a shadow root, as the page's policy allows style sheets of its own files only.

import { closeBrackets, closeBracketsKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { cpp } from "@codemirror/lang-cpp";
import { bracketMatching, foldGutter, foldKeymap, indentOnInput, indentUnit } from "@codemirror/language";
import { lintGutter, lintKeymap, type Diagnostic as Mark, setDiagnostics } from "@codemirror/lint";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { Annotation, Compartment, EditorState, type Extension, Prec } from "@codemirror/state";
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
} from "@codemirror/view";
import type { Diagnostic } from "../run/diagnostics";
import { type Choices, DEFAULT_CHOICES } from "./choices";
import { completion } from "./completion";
import { diagnosticSteps } from "./diagnostic_steps";
import { colours, look } from "./look";
import { typedOverSelection } from "./typed_over_selection";

const INDENT = "    ";
const byProgram = Annotation.define<boolean>();

export interface EditorCalls {
  onChange: (code: string) => void;
  onSubmit: () => void;
  onSample: () => void;
  onFile: (file: File) => void;
}

export interface Shown {
  // Whose text it is: each has its own undo.
  name: string;
  code: string;
  isReadOnly: boolean;
}

export class Editor {
  // The problem's, whose parameters are completed.
  signature = "";
  readonly #host: HTMLElement;
  readonly #view: EditorView;
  readonly #extensions: Extension;
  readonly #vim = new Compartment();
  readonly #wrap = new Compartment();
  readonly #readOnly = new Compartment();
  readonly #states = new Map<string, EditorState>();
  #vimKeys: Extension | null = null;
  #shown: Shown = { name: "", code: "", isReadOnly: false };
  #choices: Choices = DEFAULT_CHOICES;

  constructor(host: HTMLElement, calls: EditorCalls) {
    this.#host = host;
    const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
    this.#extensions = this.#extended(calls);
    this.#view = new EditorView({ root, parent: root, state: this.#begun("") });
  }

  get code(): string {
    return this.#view.state.doc.toString();
  }

  // False on a narrow screen that shows another part of the page.
  get isShown(): boolean {
    return this.#view.dom.getClientRects().length > 0;
  }

  // Replaces the text; if it is the same one's, undo brings back what was there before.
  show(shown: Shown): void {
    const { name, code } = shown;
    if (name !== this.#shown.name) {
      if (!this.#shown.isReadOnly) this.#states.set(this.#shown.name, this.#view.state);
      const known = this.#states.get(name);
      this.#view.setState(known?.doc.toString() === code ? known : this.#begun(code));
    }
    this.#shown = shown;
    this.#configure();
    if (this.code !== code) this.#replace(code);
    this.mark([]);
  }

  set choices(choices: Choices) {
    this.#choices = choices;
    this.#host.style.setProperty("--code-size", `${choices.fontSize}px`);
    this.#configure();
    this.#view.requestMeasure();
    if (choices.vim && !this.#vimKeys) void this.#loadVim();
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

  // Nobody loads it who does not want it.
  async #loadVim(): Promise<void> {
    const { vim } = await import("./vim");
    this.#vimKeys = vim();
    this.#configure();
  }

  #configure(): void {
    const { vim, wrap } = this.#choices;
    this.#view.dispatch({
      effects: [
        this.#vim.reconfigure((vim && this.#vimKeys) || []),
        this.#wrap.reconfigure(wrap ? EditorView.lineWrapping : []),
        this.#readOnly.reconfigure(EditorState.readOnly.of(this.#shown.isReadOnly)),
      ],
    });
  }

  #replace(code: string): void {
    this.#view.dispatch({
      changes: { from: 0, to: this.#view.state.doc.length, insert: code },
      selection: { anchor: 0 },
      annotations: byProgram.of(true),
      scrollIntoView: true,
    });
  }

  #begun(doc: string): EditorState {
    return EditorState.create({ doc, extensions: this.#extensions });
  }

  #extended({ onChange, onSubmit, onSample, onFile }: EditorCalls): Extension {
    return [
      Prec.highest(keymap.of([key("Mod-Enter", onSubmit), key("Mod-'", onSample)])),
      Prec.high(this.#vim.of([])),
      this.#wrap.of([]),
      this.#readOnly.of([]),
      droppedFile(onFile),
      typedOverSelection,
      lineNumbers(),
      lintGutter(),
      diagnosticSteps,
      foldGutter(),
      history(),
      drawSelection(),
      EditorState.allowMultipleSelections.of(true),
      EditorState.tabSize.of(INDENT.length),
      indentUnit.of(INDENT),
      indentOnInput(),
      bracketMatching(),
      closeBrackets(),
      completion(() => this.signature),
      highlightActiveLine(),
      highlightActiveLineGutter(),
      highlightSelectionMatches(),
      cpp(),
      colours,
      look,
      KEYS,
      ATTRIBUTES,
      EditorView.updateListener.of(({ docChanged, transactions, state }) => {
        const isOurs = transactions.some((one) => one.annotation(byProgram));
        if (docChanged && !isOurs) onChange(state.doc.toString());
      }),
    ];
  }
}

const KEYS = keymap.of([
  ...closeBracketsKeymap,
  ...searchKeymap,
  ...historyKeymap,
  ...foldKeymap,
  ...lintKeymap,
  ...defaultKeymap,
  indentWithTab,
]);
const ATTRIBUTES = EditorView.contentAttributes.of({
  id: "code",
  tabindex: "0",
  "aria-label": "HIP source",
  spellcheck: "false",
  autocapitalize: "off",
  autocorrect: "off",
});

function key(name: string, run: () => void) {
  return {
    key: name,
    run: () => {
      run();
      return true;
    },
  };
}

// The library would put its text where it was dropped.
function droppedFile(onFile: (file: File) => void): Extension {
  return Prec.high(
    EditorView.domEventHandlers({
      drop(event) {
        const file = event.dataTransfer?.files[0];
        if (file) onFile(file);
        return file !== undefined;
      },
    }),
  );
}
