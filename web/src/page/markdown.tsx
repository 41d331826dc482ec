// Statements and messages, which are Markdown. Markup in them is shown as text, and pictures of other hosts are not
// loaded.

import MarkdownIt from "markdown-it";

const markdown = new MarkdownIt({ html: false, linkify: false, typographer: false }).disable("image");
const { rules } = markdown.renderer;

// The page has the first heading.
rules.heading_open = (tokens, at) => `<h${level(tokens[at]?.tag)}>`;
rules.heading_close = (tokens, at) => `</h${level(tokens[at]?.tag)}>\n`;
rules.table_open = () => '<div class="table-scroll" tabindex="0"><table>\n';
rules.table_close = () => "</table></div>\n";
rules.link_open = (tokens, at, options, _, renderer) => {
  tokens[at]?.attrSet("rel", "noreferrer");
  return renderer.renderToken(tokens, at, options);
};
// Its own way to align a column is a style in the element, which the page's policy does not allow.
for (const name of ["th_open", "td_open"]) {
  rules[name] = (tokens, at, options, _, renderer) => {
    const cell = tokens[at];
    const isRight = cell?.attrGet("style") === "text-align:right";
    if (cell) cell.attrs = isRight ? [["class", "number"]] : null;
    return renderer.renderToken(tokens, at, options);
  };
}
for (const name of ["fence", "code_block"] as const) {
  const shown = rules[name];
  // People scroll it with the keyboard.
  rules[name] = (...values) => (shown?.(...values) ?? "").replace("<pre>", '<pre tabindex="0">');
}

// `isShown` says which of its blocks are: their tag, and their text.
export function Markdown({
  text,
  isShown = () => true,
  ...rest
}: {
  text: string;
  isShown?: (tag: string, text: string, at: number) => boolean;
  class?: string;
  id?: string;
}) {
  const html = blocks(text)
    .filter(({ tag, text: own }, at) => isShown(tag, own, at))
    .map(({ html }) => html)
    .join("");
  // biome-ignore lint/security/noDangerouslySetInnerHtml: the renderer writes no markup but its own
  return <article {...rest} dangerouslySetInnerHTML={{ __html: html }} />;
}

export function Inline({ text }: { text: string }) {
  // biome-ignore lint/security/noDangerouslySetInnerHtml: the renderer writes no markup but its own
  return <span dangerouslySetInnerHTML={{ __html: markdown.renderInline(text) }} />;
}

export function blocks(text: string): { tag: string; text: string; html: string }[] {
  const tokens = markdown.parse(text, {});
  const found = [];
  for (let begin = 0, depth = 0, at = 0; at < tokens.length; at++) {
    depth += tokens[at]?.nesting ?? 0;
    if (depth) continue;
    const own = tokens.slice(begin, at + 1);
    found.push({
      tag: own[0]?.tag ?? "",
      text: own.map(({ content }) => content).join(""),
      html: markdown.renderer.render(own, markdown.options, {}),
    });
    begin = at + 1;
  }
  return found;
}

function level(tag = "h1"): number {
  return Math.min(Number(tag.slice(1)) + 1, 4);
}
