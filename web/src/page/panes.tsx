// Panes side by side, whose borders can be dragged and which can be folded; on narrow screens tabs, one at a time.

import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import { foldedBy, moved, read, toggled, type Widths } from "./pane_widths";
import * as store from "./store";

const STEP = 0.02;

export interface Pane {
  id: string;
  name: string;
  content: ComponentChildren;
}

export function Panes({
  head,
  panes,
  chosen,
  onChoose,
}: {
  head: ComponentChildren;
  panes: Pane[];
  chosen: string;
  onChoose: (id: string) => void;
}) {
  const [widths, setWidths] = useState(() => read(store.paneWidths()));
  const main = useRef<HTMLElement>(null);
  function change(next: Widths): void {
    setWidths(next);
    store.rememberPaneWidths(JSON.stringify(next));
  }
  const columns = panes.map((_, at) => (widths.folded[at] ? "0px" : `minmax(0, ${widths.shares[at]}fr)`));
  return (
    <main class="panes" ref={main} style={{ "--panes": columns.join(" 14px ") }}>
      {head}
      <div class="pane-tabs" role="tablist" aria-label="Parts of this page">
        {panes.map(({ id, name }) => (
          <button
            type="button"
            role="tab"
            id={`${id}-tab`}
            key={id}
            aria-controls={id}
            aria-selected={id === chosen}
            onClick={() => onChoose(id)}
          >
            {name}
          </button>
        ))}
      </div>
      {panes.map(({ id, name, content }, at) => [
        at > 0 ? (
          <Border
            key={`${id}-border`}
            widths={widths}
            border={at - 1}
            name={panes[foldedBy(at - 1)]?.name ?? ""}
            wholePx={() => main.current?.clientWidth ?? 1}
            onChange={change}
          />
        ) : null,
        <section
          class={`pane ${id === chosen ? "chosen" : ""} ${widths.folded[at] ? "folded" : ""}`}
          id={id}
          key={id}
          aria-label={name}
          style={{ gridColumn: 2 * at + 1 }}
        >
          {content}
        </section>,
      ])}
    </main>
  );
}

function Border({
  widths,
  border,
  name,
  wholePx,
  onChange,
}: {
  widths: Widths;
  border: number;
  name: string;
  wholePx: () => number;
  onChange: (widths: Widths) => void;
}) {
  const from = useRef<{ x: number; widths: Widths } | null>(null);
  const fold = () => onChange(toggled(widths, foldedBy(border)));
  const steps: Record<string, () => void> = {
    ArrowLeft: () => onChange(moved(widths, border, -STEP)),
    ArrowRight: () => onChange(moved(widths, border, STEP)),
    Enter: fold,
  };
  const isFolded = widths.folded[foldedBy(border)];
  return (
    // biome-ignore lint/a11y/useSemanticElements: people move it
    <div
      class="pane-border"
      role="separator"
      aria-orientation="vertical"
      aria-label={`${name}: arrow keys move this border, Enter ${isFolded ? "unfolds" : "folds"}`}
      aria-valuenow={Math.round(100 * (widths.shares[border] ?? 0))}
      tabIndex={0}
      style={{ gridColumn: 2 * border + 2 }}
      onDblClick={fold}
      onKeyDown={(event) => {
        const step = steps[event.key];
        if (!step) return;
        event.preventDefault();
        step();
      }}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        from.current = { x: event.clientX, widths };
      }}
      onPointerMove={({ clientX }) => {
        if (from.current) onChange(moved(from.current.widths, border, (clientX - from.current.x) / wholePx()));
      }}
      onLostPointerCapture={() => {
        from.current = null;
      }}
    />
  );
}
