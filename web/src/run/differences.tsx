// Where an output is wrong: the elements around the first wrong one, and a coarse map of all.

import { useLayoutEffect, useRef } from "preact/hooks";
import type { Schemas } from "../gateway/client";
import { exact, figure } from "../page/format";

type Cell = Schemas["ErrorWindow"]["expected"][number][number];
type ErrorWindow = Schemas["ErrorWindow"];
type ErrorMap = Schemas["ErrorMap"];

const CELL = 10;
const MAP_COLUMNS = ["Rows", "Columns", "Wrong"];
const MOST_ROWS = 50;

export function Differences({ window: around, map }: Schemas["DebugInfo"]) {
  return (
    <>
      {around ? <Window around={around} /> : null}
      {map ? <MapOf map={map} /> : null}
    </>
  );
}

function Window({ around }: { around: ErrorWindow }) {
  return (
    <section class="error-window">
      <h3>Around the first wrong element</h3>
      <p class="hint">
        From {around.output} [{around.origin.join(", ")}] on; wrong elements are marked.
      </p>
      <div class="columns">
        <Cells around={around} title="Expected" cells={around.expected} />
        <Cells around={around} title="Yours" cells={around.actual} />
      </div>
    </section>
  );
}

function Cells({ around: { origin, wrong }, title, cells }: { around: ErrorWindow; title: string; cells: Cell[][] }) {
  const [column = 0, row = 0] = [...origin].reverse();
  const table = useRef<HTMLElement>(null);
  // Both tables begin at the first wrong element, whatever fits.
  useLayoutEffect(() => {
    const at = wrong.flatMap((values) => values.flatMap((isWrong, place) => (isWrong ? [place] : [])));
    const cell = table.current?.querySelector(`tbody td:nth-of-type(${Math.min(...at) + 1})`);
    if (table.current && cell instanceof HTMLElement) table.current.scrollLeft = cell.offsetLeft - 3 * cell.offsetWidth;
  }, [wrong]);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: people scroll it with the keyboard
    <section class="table-scroll" tabIndex={0} aria-label={title} ref={table}>
      <table class="cells mono">
        <caption>{title}</caption>
        <thead>
          <tr>
            <th scope="col">
              <span class="visually-hidden">Row</span>
            </th>
            {(cells[0] ?? []).map((_, at) => (
              <th scope="col" class="number" key={at}>
                {origin.length > 1 ? column + at : `+${at}`}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {cells.map((values, down) => (
            <tr key={down}>
              <th scope="row" class="number">
                {origin.length > 1 ? row + down : column + down * values.length}
              </th>
              {values.map((value, at) => (
                <td class="number" key={at}>
                  {wrong[down]?.[at] ? <mark>{shown(value)}</mark> : shown(value)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function shown(value: Cell): string {
  return value === null ? "" : exact(value);
}

function MapOf({ map }: { map: ErrorMap }) {
  const { shares, output, output_rows: rows, output_columns: columns } = map;
  const wrong = shares.flatMap((row, down) => row.map((share, at) => ({ share: share ?? 0, down, at })));
  const found = wrong.filter(({ share }) => share > 0);
  return (
    <figure class="error-map">
      <figcaption>
        <strong>Where {output} is wrong</strong>
        <span class="hint">
          {` ${figure(rows)} × ${figure(columns)} elements; each cell has ${map.cell_rows} × ${map.cell_columns}, and is the fuller the more are wrong.`}
        </span>
      </figcaption>
      <svg
        class="map"
        viewBox={`0 0 ${CELL * (shares[0]?.length ?? 1)} ${CELL * shares.length}`}
        role="img"
        aria-label={`${found.length} of ${wrong.length} cells have wrong elements`}
      >
        {found.map(({ share, down, at }) => {
          // An area that is as large as the share, and can be seen.
          const side = CELL * Math.max(0.25, Math.sqrt(share));
          const inset = (CELL - side) / 2;
          return (
            <rect key={`${down} ${at}`} x={CELL * at + inset} y={CELL * down + inset} width={side} height={side} />
          );
        })}
      </svg>
      <details>
        <summary>
          Numbers<span class="visually-hidden"> of where it is wrong</span>
        </summary>
        <table>
          <caption class="visually-hidden">Cells with wrong elements</caption>
          <thead>
            <tr>
              {MAP_COLUMNS.map((title) => (
                <th scope="col" key={title}>
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {found.slice(0, MOST_ROWS).map(({ share, down, at }) => (
              <tr key={`${down} ${at}`}>
                <td>{extent(down, map.cell_rows, rows)}</td>
                <td>{extent(at, map.cell_columns, columns)}</td>
                <td>{`${figure(100 * share)} %`}</td>
              </tr>
            ))}
          </tbody>
        </table>
        {found.length > MOST_ROWS ? <p class="hint">and {found.length - MOST_ROWS} more</p> : null}
      </details>
    </figure>
  );
}

// The first and the last index that a cell stands for.
function extent(cell: number, size: number, all: number): string {
  const [first, last] = [cell * size, Math.min(all, (cell + 1) * size) - 1];
  return first === last ? String(first) : `${first} to ${last}`;
}
