// What has happened to the text, beside the editor, and how to go back.

import type { ComponentChildren } from "preact";
import type { Source } from "../workbench/source";

export function Notices({ source }: { source: Source }) {
  const { old, replaced, newer, unkept, refusal } = source;
  return (
    <>
      <p id="file-refusal" class="field-error" role="alert" hidden={!refusal.value}>
        {refusal.value}
      </p>
      {unkept.value ? (
        <Notice id="unkept" words={unkept.value}>
          <Action name="OK" onClick={() => source.hear()} />
        </Notice>
      ) : null}
      {newer.value === null ? null : (
        <Notice id="newer" words="Another tab has changed this draft; the text here is older.">
          <Action name="Take its text" onClick={() => source.takeNewer()} />
          <Action name="Keep this one" onClick={() => source.keepOwn()} />
        </Notice>
      )}
      {old.value ? (
        <Notice id="old-code" words={`This is the code of ${old.value.title}, and cannot be changed here.`}>
          <Action name="Use this code" onClick={() => source.takeOld()} />
          <Action name="Back to your draft" onClick={() => source.show(null)} />
        </Notice>
      ) : null}
      {replaced.value ? (
        <Notice id="replaced" words={replaced.value.words}>
          <Action name="Undo" onClick={() => source.undo()} />
        </Notice>
      ) : null}
    </>
  );
}

function Notice({ id, words, children }: { id: string; words: string; children: ComponentChildren }) {
  return (
    <div id={id} class="source-notice" role="status">
      <span>{words}</span>
      {children}
    </div>
  );
}

function Action({ name, onClick }: { name: string; onClick: () => void }) {
  return (
    <button class="button small" type="button" onClick={onClick}>
      {name}
    </button>
  );
}
