import { expect, test } from "vitest";
import { read } from "./source_file";

function file(content: BlobPart, name = "mine.hip"): File {
  return new File([content], name);
}

test("a file of text is read", async () => {
  expect(await read(file("int µ;"))).toEqual({ text: "int µ;" });
});

test("a file that was saved as UTF-16 is read", async () => {
  const units = new Uint16Array(
    [0xfeff, ..."int µ;"].map((one) => (typeof one === "number" ? one : one.charCodeAt(0))),
  );
  expect(await read(file(units))).toEqual({ text: "int µ;" });
  const swapped = new Uint8Array(units.buffer.slice(0)).map((_, at, bytes) => bytes[at ^ 1] ?? 0);
  expect(await read(file(swapped))).toEqual({ text: "int µ;" });
});

test.each([
  ["a program", new Uint8Array([127, 69, 76, 70, 0, 1]), "it is not text in UTF-8."],
  ["broken text", new Uint8Array([0x61, 0xff, 0xfe]), "it is not text in UTF-8."],
  ["more than 1 MiB", "x".repeat((1 << 20) + 1), "it has 1.0 MiB, and a source may have 1 MiB."],
])("%s is refused by name, with the reason", async (_, content, reason) => {
  const found = await read(file(content));
  expect(found).toEqual({ refusal: `mine.hip was not opened: ${reason} Your text is as it was.` });
});

test("a file of exactly 1 MiB is read", async () => {
  expect(await read(file("x".repeat(1 << 20)))).toHaveProperty("text");
});
