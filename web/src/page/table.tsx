// A table with a caption that only screen readers tell. One that is too wide scrolls by itself, with the keyboard, too.

import type { ComponentChildren } from "preact";

export interface Column {
  title: string;
  class?: string;
}

export function Table({
  caption,
  columns,
  rows,
  ...rest
}: {
  caption: string;
  columns: Column[];
  rows: ComponentChildren[][];
  class?: string;
}) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls
    <div class="table-scroll" tabIndex={0}>
      <table {...rest}>
        <caption class="visually-hidden">{caption}</caption>
        <thead>
          <tr>
            {columns.map(({ title, class: kind }) => (
              <th scope="col" class={kind} key={title}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((cells, row) => (
            <tr key={row}>
              {cells.map((cell, at) => (
                <td class={columns[at]?.class} key={columns[at]?.title}>
                  {cell}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
