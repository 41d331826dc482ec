// How the editor works and looks, for this browser.

import { useRef } from "preact/hooks";
import { type Choices, FONT_SIZES } from "./choices";

export function EditorMenu({ choices, onChange }: { choices: Choices; onChange: (choices: Choices) => void }) {
  const details = useRef<HTMLDetailsElement>(null);
  const close = () => {
    if (details.current) details.current.open = false;
  };
  return (
    <details
      id="editor-menu"
      class="menu"
      ref={details}
      onKeyDown={({ key }) => {
        if (key !== "Escape") return;
        close();
        details.current?.querySelector("summary")?.focus();
      }}
      onFocusOut={({ relatedTarget }) => {
        if (relatedTarget instanceof Node && !details.current?.contains(relatedTarget)) close();
      }}
    >
      <summary class="button small">Editor</summary>
      <div class="menu-content">
        <label>
          <input
            id="vim-keys"
            type="checkbox"
            checked={choices.vim}
            onChange={({ currentTarget }) => onChange({ ...choices, vim: currentTarget.checked })}
          />
          Keys of vim
        </label>
        <label>
          <input
            id="wrap-lines"
            type="checkbox"
            checked={choices.wrap}
            onChange={({ currentTarget }) => onChange({ ...choices, wrap: currentTarget.checked })}
          />
          Wrap long lines
        </label>
        <label for="font-size">Font size</label>
        <select
          id="font-size"
          value={String(choices.fontSize)}
          onChange={({ currentTarget }) => onChange({ ...choices, fontSize: Number(currentTarget.value) })}
        >
          {FONT_SIZES.map((size) => (
            <option value={String(size)} key={size}>
              {`${size} px`}
            </option>
          ))}
        </select>
      </div>
    </details>
  );
}
