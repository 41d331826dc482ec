// A table with a caption that only screen readers tell.

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
  );
}
