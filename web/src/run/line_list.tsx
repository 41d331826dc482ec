// Lines of text, of which only those in view are in the page; one is chosen, by pointer or by keyboard.

import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

const LINE_PX = 20;
// Lines above and below what is in view.
const MORE = 20;
const PAGE = 20;

export interface Line {
  // What stands before the text.
  mark: ComponentChildren;
  text: ComponentChildren;
  class?: string;
}

export interface LineListProps {
  id: string;
  label: string;
  count: number;
  line: (at: number) => Line;
  // -1: none.
  chosen: number;
  // Comes into view when it changes; -1: nothing does.
  shown: number;
  onChoose: (at: number) => void;
  // What the pointer is on.
  onPoint?: (at: number) => void;
}

export function LineList({ id, label, count, line, chosen, shown, onChoose, onPoint }: LineListProps) {
  const list = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 0 });
  function look(): void {
    const { scrollTop: top = 0, clientHeight: height = 0 } = list.current ?? {};
    setView((before) => (before.top === top && before.height === height ? before : { top, height }));
  }
  useLayoutEffect(() => {
    look();
    const observer = new ResizeObserver(look);
    if (list.current) observer.observe(list.current);
    return () => observer.disconnect();
  }, []);
  useEffect(() => {
    if (list.current && shown >= 0) bringIntoView(list.current, shown);
  }, [shown]);
  const first = Math.max(0, Math.floor(view.top / LINE_PX) - MORE);
  const last = Math.min(count, Math.ceil((view.top + view.height) / LINE_PX) + MORE);
  const inView = Array.from({ length: Math.max(0, last - first) }, (_, at) => first + at);
  const steps: Record<string, number> = {
    ArrowUp: chosen - 1,
    ArrowDown: chosen + 1,
    PageUp: chosen - PAGE,
    PageDown: chosen + PAGE,
    Home: 0,
    End: count - 1,
  };
  return (
    <div
      class="line-list"
      role="listbox"
      aria-label={label}
      aria-activedescendant={inView.includes(chosen) ? `${id}-${chosen}` : undefined}
      tabIndex={0}
      ref={list}
      onScroll={look}
      onKeyDown={(event) => {
        const to = event.ctrlKey || event.metaKey || event.altKey ? undefined : steps[event.key];
        if (to === undefined || !count) return;
        event.preventDefault();
        const at = Math.min(count - 1, Math.max(0, to));
        onChoose(at);
        bringIntoView(event.currentTarget, at);
      }}
    >
      <div class="line-list-whole" role="presentation" style={{ height: `${count * LINE_PX}px` }}>
        <div class="line-list-view" role="presentation" style={{ transform: `translateY(${first * LINE_PX}px)` }}>
          {inView.map((at) => {
            const { mark, text, class: kind = "" } = line(at);
            return (
              // biome-ignore lint/a11y/useKeyWithClickEvents: the list has the keys
              // biome-ignore lint/a11y/useFocusableInteractive: the list has the focus
              <div
                class={`line ${kind} ${at === chosen ? "chosen" : ""}`}
                role="option"
                id={`${id}-${at}`}
                key={at}
                aria-selected={at === chosen}
                aria-setsize={count}
                aria-posinset={at + 1}
                onClick={() => onChoose(at)}
                onPointerEnter={onPoint && (() => onPoint(at))}
              >
                <span class="line-mark">{mark}</span>
                <span class="line-text">{text}</span>
                {mark || text ? null : <span class="visually-hidden">blank</span>}
              </div>
            );
          })}
        </div>
      </div>
    </div>
  );
}

function bringIntoView(list: HTMLElement, at: number): void {
  const [top, bottom] = [at * LINE_PX, (at + 1) * LINE_PX];
  if (top >= list.scrollTop && bottom <= list.scrollTop + list.clientHeight) return;
  list.scrollTop = top - (list.clientHeight - LINE_PX) / 2;
}
