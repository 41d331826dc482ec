// F8 and Shift + F8: from one of the compiler's diagnostics to the next, whose text is shown there and read out.

import { forEachDiagnostic, nextDiagnostic, previousDiagnostic } from "@codemirror/lint";
import { type Command, EditorView, keymap } from "@codemirror/view";

function stepping(go: Command): Command {
  return (view) => {
    if (!go(view)) return false;
    const { from } = view.state.selection.main;
    const texts: string[] = [];
    forEachDiagnostic(view.state, ({ message }, begin) => {
      if (begin === from) texts.push(message);
    });
    const { number } = view.state.doc.lineAt(from);
    view.dispatch({ effects: EditorView.announce.of(`Line ${number}: ${texts.join(". ")}`) });
    return true;
  };
}

export const diagnosticSteps = keymap.of([
  { key: "F8", run: stepping(nextDiagnostic), shift: stepping(previousDiagnostic) },
]);
