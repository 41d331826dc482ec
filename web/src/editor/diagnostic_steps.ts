// F8 and Shift + F8: from one of the compiler's diagnostics to the next, with its text at the place.

import {
  type Diagnostic,
  forEachDiagnostic,
  nextDiagnostic,
  previousDiagnostic,
  setDiagnosticsEffect,
} from "@codemirror/lint";
import { type EditorState, StateEffect, StateField } from "@codemirror/state";
import { type Command, EditorView, keymap, showTooltip, type Tooltip } from "@codemirror/view";

const shown = StateEffect.define<Tooltip | null>();

// Until somebody types, moves, or what the compiler said is replaced.
const field = StateField.define<Tooltip | null>({
  create: () => null,
  update(tooltip, transaction) {
    for (const effect of transaction.effects) {
      if (effect.is(shown)) return effect.value;
      if (effect.is(setDiagnosticsEffect)) return null;
    }
    return transaction.docChanged || transaction.selection ? null : tooltip;
  },
  provide: (tooltip) => showTooltip.from(tooltip),
});

function stepping(go: Command): Command {
  return (view) => {
    if (!go(view)) return false;
    const { main } = view.state.selection;
    const found = diagnosticsAt(view.state, main.from);
    const [first] = found;
    if (!first) return true;
    const text = found.map(({ message }) => message).join("\n");
    view.dispatch({
      effects: [
        shown.of({ pos: main.from, above: true, create: () => ({ dom: note(text, first.severity) }) }),
        EditorView.announce.of(`Line ${view.state.doc.lineAt(main.from).number}: ${text}`),
      ],
    });
    return true;
  };
}

function diagnosticsAt(state: EditorState, place: number): Diagnostic[] {
  const found: Diagnostic[] = [];
  forEachDiagnostic(state, (diagnostic, from) => {
    if (from === place) found.push(diagnostic);
  });
  return found;
}

function note(text: string, severity: string): HTMLElement {
  const dom = document.createElement("div");
  dom.className = `cm-diagnostic-here cm-diagnostic-${severity}`;
  dom.textContent = text;
  return dom;
}

export const diagnosticSteps = [
  field,
  keymap.of([{ key: "F8", run: stepping(nextDiagnostic), shift: stepping(previousDiagnostic) }]),
];
