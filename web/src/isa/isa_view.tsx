// Source and gfx942 instructions of a submission, side by side or interleaved, linked both ways.

import { useQuery } from "@tanstack/preact-query";
import { useMemo, useState } from "preact/hooks";
import type { Schemas } from "../gateway/client";
import * as queries from "../gateway/queries";
import { CopyButton } from "../page/copy_button";
import { type Line, LineList } from "../run/line_list";
import { found, type Listing, listingOf, nearestRow, type Row, withoutSource } from "./listing";

type Hint = Schemas["IsaHint"] & { kernel: string };

// Line of the source, from 1, and row of the listing; 0 and -1 are none.
interface Place {
  line: number;
  row: number;
}

export default function IsaView({ id }: { id: string }) {
  const { data: isa, error } = useQuery(queries.isa(id));
  const code = useQuery(queries.submission(id)).data?.code;
  if (error) return <p class="empty">The instructions could not be read: {error.message}</p>;
  if (!isa || code === undefined) return <p class="empty">Reading the instructions…</p>;
  if (!isa.listing) return <p class="empty">There are no instructions. {isa.isa_note}</p>;
  return <Linked isa={isa} code={code} />;
}

function Linked({ isa, code }: { isa: Schemas["SubmissionIsa"]; code: string }) {
  const listing = useMemo(() => listingOf(isa.listing), [isa]);
  const hints = useMemo(() => hintsOf(isa.isa), [isa]);
  const names = useMemo(() => namesOf(isa.isa), [isa]);
  const [isMixed, setMixed] = useState(false);
  const [{ line, row }, setPlace] = useState<Place>({ line: 0, row: -1 });
  const [pointed, setPointed] = useState(0);
  const chooseLine = (to: number) => setPlace({ line: to, row: nearestRow(listing, to, row) });
  function chooseRow(to: number): void {
    const { kind, line: of } = listing.rows[to] as Row;
    if (kind === "source" && !isMixed) chooseLine(of);
    else setPlace({ line: of, row: to });
  }
  const shown = (at: number) => instruction(listing.rows[at] as Row, names, linked(line, pointed));
  const sides = { listing, row, shown, onChoose: chooseRow, onPoint: setPointed };
  return (
    <div class="isa-view">
      <div class="isa-tools">
        <Search listing={listing} from={row} onFound={chooseRow} />
        <button class="button small" type="button" aria-pressed={isMixed} onClick={() => setMixed(!isMixed)}>
          Interleaved
        </button>
        <CopyButton text={isa.listing} />
      </div>
      <div class={isMixed ? "isa-mixed" : "isa-sides"} onPointerLeave={() => setPointed(0)}>
        {isMixed ? (
          <Rows {...sides} label="Instructions below their source lines" />
        ) : (
          <>
            <Source
              code={code}
              line={line}
              hints={hints}
              isLinked={linked(line, pointed)}
              onChoose={chooseLine}
              onPoint={setPointed}
            />
            <Beside {...sides} />
          </>
        )}
      </div>
      <p class="hint">
        {line && !listing.rowsOf.has(line)
          ? `No instruction is from line ${line}.`
          : "Arrow keys move the line; the other side follows."}
      </p>
      <Hints line={line} hints={hints.get(line) ?? []} all={hints} onChoose={chooseLine} />
    </div>
  );
}

interface SourceProps {
  code: string;
  line: number;
  hints: ReadonlyMap<number, Hint[]>;
  isLinked: (line: number) => boolean;
  onChoose: (line: number) => void;
  onPoint: (line: number) => void;
}

function Source({ code, line, hints, isLinked, onChoose, onPoint }: SourceProps) {
  const lines = useMemo(() => code.split("\n"), [code]);
  const shown = (at: number): Line => ({
    mark: hints.has(at + 1) ? `! ${at + 1}` : at + 1,
    text: (
      <>
        {lines[at]}
        {hints.has(at + 1) ? <span class="visually-hidden">, has a hint</span> : null}
      </>
    ),
    class: `${isLinked(at + 1) ? "linked" : ""} ${hints.has(at + 1) ? "hinted" : ""}`,
  });
  return (
    <LineList
      id="isa-source"
      label="Source"
      count={lines.length}
      line={shown}
      chosen={line - 1}
      shown={line - 1}
      onChoose={(at) => onChoose(at + 1)}
      onPoint={(at) => onPoint(at + 1)}
    />
  );
}

interface RowsProps {
  listing: Listing;
  row: number;
  shown: (row: number) => Line;
  onChoose: (row: number) => void;
  onPoint: (line: number) => void;
}

// All but the source lines.
function Beside({ listing, row, shown, onChoose, onPoint }: RowsProps) {
  const rows = useMemo(() => withoutSource(listing), [listing]);
  const chosen = rows.indexOf(row);
  return (
    <LineList
      id="isa-row"
      label="Instructions"
      count={rows.length}
      line={(at) => shown(rows[at] as number)}
      chosen={chosen}
      shown={chosen}
      onChoose={(at) => onChoose(rows[at] as number)}
      onPoint={(at) => onPoint(listing.rows[rows[at] as number]?.line ?? 0)}
    />
  );
}

function Rows({ listing, row, shown, onChoose, onPoint, label }: RowsProps & { label: string }) {
  return (
    <LineList
      id="isa-row"
      label={label}
      count={listing.rows.length}
      line={shown}
      chosen={row}
      shown={row}
      onChoose={onChoose}
      onPoint={(at) => onPoint(listing.rows[at]?.line ?? 0)}
    />
  );
}

function Search({ listing, from, onFound }: { listing: Listing; from: number; onFound: (row: number) => void }) {
  const [words, setWords] = useState("");
  const [isMissing, setMissing] = useState(false);
  return (
    <form
      class="isa-search"
      onSubmit={(event) => {
        event.preventDefault();
        const row = found(listing.rows, words, from);
        setMissing(row < 0);
        if (row >= 0) onFound(row);
      }}
    >
      <input
        id="search"
        type="search"
        aria-label="Search the instructions"
        placeholder="Search; Enter goes on"
        value={words}
        onInput={({ currentTarget }) => setWords(currentTarget.value)}
      />
      <span role="status" class="hint">
        {isMissing ? "Not found" : ""}
      </span>
    </form>
  );
}

interface HintsProps {
  line: number;
  hints: readonly Hint[];
  all: ReadonlyMap<number, Hint[]>;
  onChoose: (line: number) => void;
}

// Of the chosen line, and where the others are.
function Hints({ line, hints, all, onChoose }: HintsProps) {
  const others = [...all.keys()].filter((one) => one !== line);
  return (
    <div class="isa-hints" role="status">
      {hints.map(({ kernel, what, why, advice }) => (
        <p key={`${kernel} ${what}`}>
          <strong>{`Line ${line}, ${kernel}: ${what}.`}</strong> {`${why}. What to do: ${advice}.`}
        </p>
      ))}
      {others.length ? (
        <p class="hint">
          Hints:{" "}
          {others.map((one) => (
            <button type="button" class="link-button" key={one} onClick={() => onChoose(one)}>
              line {one}
            </button>
          ))}
        </p>
      ) : null}
    </div>
  );
}

function instruction(
  { kind, text, line }: Row,
  names: ReadonlyMap<string, string>,
  isLinked: (line: number) => boolean,
) {
  const isKernel = kind === "kernel";
  return {
    mark: kind === "instruction" || kind === "source" ? line || "" : "",
    text: isKernel ? (names.get(text) ?? text) : text,
    class: `row-${kind} ${isLinked(line) ? "linked" : ""}`,
  };
}

function linked(chosen: number, pointed: number): (line: number) => boolean {
  return (line) => line > 0 && (line === chosen || line === pointed);
}

function hintsOf(kernels: Schemas["SubmissionIsa"]["isa"]): Map<number, Hint[]> {
  const hints = new Map<number, Hint[]>();
  for (const [kernel, { hints: all }] of Object.entries(kernels))
    for (const hint of all) if (hint.line) hints.set(hint.line, [...(hints.get(hint.line) ?? []), { kernel, ...hint }]);
  return new Map([...hints].sort(([one], [other]) => one - other));
}

// Of kernels in the source, by those in the object file.
function namesOf(kernels: Schemas["SubmissionIsa"]["isa"]): Map<string, string> {
  return new Map(Object.entries(kernels).map(([name, { symbol }]) => [symbol, name]));
}
