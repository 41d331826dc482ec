// Files that people bring into the editor, and take from it.

const MAX_BYTES = 1 << 20;

export type Read = { text: string } | { refusal: string };

// The text of a file, or why it is none that can be submitted.
export async function read(file: Pick<File, "name" | "size" | "arrayBuffer">): Promise<Read> {
  const refused = (why: string) => ({ refusal: `${file.name} was not opened: ${why} Your text is as it was.` });
  if (file.size > MAX_BYTES)
    return refused(`it has ${(file.size / MAX_BYTES).toFixed(1)} MiB, and a source may have 1 MiB.`);
  const bytes = await file.arrayBuffer().catch(() => null);
  if (!bytes) return refused("this browser cannot read it.");
  const text = decoded(bytes);
  return text === null ? refused("it is not text in UTF-8.") : { text };
}

export function download(name: string, content: string, type = "text/plain"): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([content], { type }));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}

function decoded(bytes: ArrayBuffer): string | null {
  const [first, second] = new Uint8Array(bytes);
  const encoding =
    first === 0xff && second === 0xfe ? "utf-16le" : first === 0xfe && second === 0xff ? "utf-16be" : "utf-8";
  try {
    const text = new TextDecoder(encoding, { fatal: true }).decode(bytes);
    return text.includes("\0") ? null : text;
  } catch {
    return null;
  }
}
