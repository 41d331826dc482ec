// Colours HIP source: a list of [kind, text] whose texts joined are the source.

const KEYWORDS = new Set(
  (
    "alignas auto break case const constexpr continue default delete do else enum explicit extern false for friend goto " +
    "if inline mutable namespace new noexcept nullptr operator private protected public return sizeof static " +
    "static_assert static_cast reinterpret_cast struct switch template this true typedef typename union using " +
    "virtual volatile while __global__ __device__ __host__ __shared__ __restrict__ __constant__ __launch_bounds__"
  ).split(" "),
);
const TYPES = new Set(
  (
    "void bool char short int long float double unsigned signed size_t half __half int8_t int16_t int32_t int64_t " +
    "uint8_t uint16_t uint32_t uint64_t float2 float4 dim3 hipStream_t hipError_t"
  ).split(" "),
);
const PATTERN = new RegExp(
  [
    String.raw`(?<comment>\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$))`,
    String.raw`(?<string>"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?)`,
    String.raw`(?<directive>^[ \t]*#[^\n]*)`,
    String.raw`(?<number>\b(?:0x[\da-fA-F]+|\d+\.?\d*(?:[eE][-+]?\d+)?)[uUlLfF]*)`,
    String.raw`(?<word>[A-Za-z_]\w*)`,
  ].join("|"),
  "gm",
);

export function tokens(source) {
  const found = [];
  let at = 0;
  for (const match of source.matchAll(PATTERN)) {
    const kind = kindOf(match.groups);
    if (!kind) continue;
    if (match.index > at) found.push(["plain", source.slice(at, match.index)]);
    found.push([kind, match[0]]);
    at = match.index + match[0].length;
  }
  found.push(["plain", source.slice(at)]);
  return found;
}

function kindOf({ comment, string, directive, number, word }) {
  if (comment !== undefined) return "comment";
  if (string !== undefined) return "string";
  if (directive !== undefined) return "directive";
  if (number !== undefined) return "number";
  if (KEYWORDS.has(word)) return "keyword";
  return TYPES.has(word) ? "type" : "";
}
