// Text that is typed over a selection, without the browser.

import { EditorView } from "@codemirror/view";

// Chromium gives what is typed over a selection the style of that, in the element, which the page's policy does not
// allow; so what is typed there does not go through the browser.
export const typedOverSelection = EditorView.domEventHandlers({
  beforeinput(event, view) {
    const { data: text } = event;
    // The browser's own selection: the editor hears of a new one a moment later. Only Chromium has it in a shadow root.
    const selected = "getSelection" in view.root ? (view.root as Document).getSelection() : null;
    if (event.inputType !== "insertText" || text === null || view.composing || view.state.readOnly) return false;
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
