import { expect, test } from "vitest";
import { blocks } from "./markdown";

function html(text: string): string {
  return blocks(text)
    .map((block) => block.html)
    .join("");
}

test("markup, pictures and scripts are shown as text", () => {
  const shown = html('<img src=x onerror="a()"> ![p](https://other.example/p.png) [x](javascript:a())');
  expect(shown).not.toMatch(/<img|src="|href="javascript/);
});

test("a heading is one level below the page's own", () => {
  expect(html("# Title")).toContain("<h2>Title</h2>");
  expect(html("#### Small")).toContain("<h4>Small</h4>");
});

test("nothing has a style in its element, and columns are aligned all the same", () => {
  const shown = html("| a | b |\n|---|--:|\n| 1 | 2 |");
  expect(shown).not.toContain("style=");
  expect(shown).toContain('<td class="number">2</td>');
  expect(shown).toContain('<div class="table-scroll" tabindex="0">');
});

test("each block has its tag and its text", () => {
  const found = blocks("# Title\n\nText `code`.\n\n```\nvoid f();\n```");
  expect(found.map(({ tag }) => tag)).toEqual(["h1", "p", "code"]);
  expect(found[2]?.text).toBe("void f();\n");
});
