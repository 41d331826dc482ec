// A file into the editor, and what is in it as a file.

import { useRef } from "preact/hooks";

export function FileButtons({ onFile, onDownload }: { onFile: (file: File) => void; onDownload: () => void }) {
  const chooser = useRef<HTMLInputElement>(null);
  return (
    <>
      <button id="file-button" class="button small" type="button" onClick={() => chooser.current?.click()}>
        Open file
      </button>
      <input
        id="file-input"
        type="file"
        aria-label="File with the source"
        accept=".hip,.cpp,.cu,.cc,.h,.hpp,.txt,text/*"
        hidden
        ref={chooser}
        onChange={({ currentTarget }) => {
          const file = currentTarget.files?.[0];
          // The same file may be chosen again.
          currentTarget.value = "";
          if (file) onFile(file);
        }}
      />
      <button id="download-button" class="button small" type="button" onClick={onDownload}>
        Download
      </button>
    </>
  );
}
