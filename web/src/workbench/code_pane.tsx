// The middle of the workbench: the source, what can be done with it, and the button that runs it.

import { EditorMenu } from "../editor/editor_menu";
import { FileButtons } from "../editor/file_buttons";
import { Notices } from "../editor/notices";
import type { SourceEditorCalls } from "../editor/source_editor";
import { Versions } from "../editor/versions_dialog";
import { later } from "../page/later";
import { Options } from "../request/options";
import { RunBar } from "../request/run_bar";
import type { Bench } from "./bench";

// Its files are the largest: the statement is read before they are here.
const SourceEditor = later(() => import("../editor/source_editor"), <div id="editor" class="editor" />);

export function CodePane({ bench, gpuTypes, calls }: { bench: Bench; gpuTypes: string[]; calls: SourceEditorCalls }) {
  const { source } = bench;
  const form = bench.form.value;
  return (
    <>
      <div class="pane-head">
        <h2>Code</h2>
        <div class="source-actions">
          <button
            id="starter-button"
            class="button small"
            type="button"
            disabled={!source.isOpen.value}
            onClick={() => source.takeStarter()}
          >
            Starter
          </button>
          <FileButtons onFile={calls.onFile} onDownload={() => source.download()} />
          <Versions source={source} />
          <EditorMenu choices={source.choices.value} onChange={(choices) => source.choose(choices)} />
        </div>
      </div>
      <Notices source={source} />
      <SourceEditor {...calls} hasText={source.isOpen.value} />
      <p id="editor-hint" class="hint">
        Tab indents; press Escape first to leave the editor with Tab. Ctrl + Enter runs. A file can be dropped here.
      </p>
      <RunBar
        form={form}
        canSubmit={bench.canSubmit}
        trying={bench.trying.value}
        refusal={bench.refusal.value}
        onSubmit={() => void bench.submit()}
      />
      <Options form={form} gpuTypes={gpuTypes} onChange={(changes) => bench.change(changes)} />
    </>
  );
}
