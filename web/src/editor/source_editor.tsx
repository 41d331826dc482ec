// The editor's place in the page.

import { useLayoutEffect, useRef } from "preact/hooks";
import { Editor, type EditorCalls } from "./editor";

export interface SourceEditorCalls extends EditorCalls {
  onEditor: (editor: Editor | null) => void;
}

interface SourceEditorProperties extends SourceEditorCalls {
  // Until there is a text there is nothing to type in: the text would take the place of what was typed.
  hasText: boolean;
}

export default function SourceEditor(properties: SourceEditorProperties) {
  const { hasText, onEditor, onChange, onSubmit, onSample, onFile } = properties;
  const host = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (!hasText) return;
    const editor = new Editor(host.current as HTMLDivElement, { onChange, onSubmit, onSample, onFile });
    onEditor(editor);
    return () => {
      onEditor(null);
      editor.close();
    };
  }, [hasText, onEditor, onChange, onSubmit, onSample, onFile]);
  return <div id="editor" class="editor" ref={host} />;
}
