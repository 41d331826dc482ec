// The editor's place in the page.

import { useLayoutEffect, useRef } from "preact/hooks";
import { Editor, type EditorCalls } from "./editor";

export interface SourceEditorCalls extends EditorCalls {
  onEditor: (editor: Editor | null) => void;
}

export default function SourceEditor({ onEditor, onChange, onSubmit, onSample, onFile }: SourceEditorCalls) {
  const host = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const editor = new Editor(host.current as HTMLDivElement, { onChange, onSubmit, onSample, onFile });
    onEditor(editor);
    return () => {
      onEditor(null);
      editor.close();
    };
  }, [onEditor, onChange, onSubmit, onSample, onFile]);
  return <div id="editor" class="editor" ref={host} />;
}
