// The editor's place in the page.

import { useLayoutEffect, useRef } from "preact/hooks";
import { Editor, type EditorCalls } from "./editor";

export function SourceEditor({
  onEditor,
  onChange,
  onSubmit,
}: EditorCalls & {
  onEditor: (editor: Editor | null) => void;
}) {
  const host = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const editor = new Editor(host.current as HTMLDivElement, { onChange, onSubmit });
    onEditor(editor);
    return () => {
      onEditor(null);
      editor.close();
    };
  }, [onEditor, onChange, onSubmit]);
  return <div id="editor" class="editor" ref={host} />;
}
