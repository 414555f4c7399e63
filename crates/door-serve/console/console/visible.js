// Text made safe to show: what a browser would hide, reorder or act upon is spelt out as ‹U+202E›.
//
// The server has done this already to what it sends. It is done again here, so that no field of no answer is an exception.
// Nothing is cut at its end: what is too long for a row loses its middle, and says how much.

/** Invisible, reordering, acted upon, or a look-alike of the space. The same table as the server's. */
const HIDDEN = [
  [0x0000, 0x001f], [0x007f, 0x009f], [0x00a0, 0x00a0], [0x00ad, 0x00ad], [0x034f, 0x034f], [0x061c, 0x061c], [0x115f, 0x1160],
  [0x1680, 0x1680], [0x17b4, 0x17b5], [0x180b, 0x180f], [0x2000, 0x200f], [0x2028, 0x202f], [0x205f, 0x206f], [0x2800, 0x2800],
  [0x3000, 0x3000], [0x3164, 0x3164], [0xd800, 0xdfff], [0xfe00, 0xfe0f], [0xfeff, 0xfeff], [0xffa0, 0xffa0], [0xfff0, 0xfffb],
  [0xfffe, 0xffff], [0x1bca0, 0x1bca3], [0x1d173, 0x1d17a], [0xe0000, 0xe0fff],
];

/** Letters that run from right to left: a run of them is isolated, so that it cannot reorder what stands beside it. */
const LEFTWARD = [[0x0590, 0x08ff], [0xfb1d, 0xfdff], [0xfe70, 0xfefc], [0x10800, 0x10fff], [0x1e800, 0x1efff]];

const set = (ranges) => ranges.map(([first, last]) => `\\u{${first.toString(16)}}-\\u{${last.toString(16)}}`).join("");

// A mark that the server has set (`<U+202E>`) is marked like one that is set here.
const PIECES = new RegExp(`(<U\\+[0-9A-F]{4,6}>)|([${set(HIDDEN)}])|([${set(LEFTWARD)}]+)`, "gu");
const QUICK = new RegExp(`[${set(HIDDEN)}${set(LEFTWARD)}]|<U\\+`, "u");

const code = (character) => `‹U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}›`;

/** The text as nodes. `lines`: line feeds and tabs stay as they are, for text in a block of its own. */
export function fragment(text, lines = false) {
  const nodes = document.createDocumentFragment();
  if (!QUICK.test(text)) {
    nodes.append(document.createTextNode(text));
    return nodes;
  }
  let done = 0;
  for (const match of text.matchAll(PIECES)) {
    const [whole, marked, hidden, leftward] = match;
    if (lines && (hidden === "\n" || hidden === "\t")) continue;
    if (match.index > done) nodes.append(document.createTextNode(text.slice(done, match.index)));
    done = match.index + whole.length;
    const element = document.createElement(leftward ? "bdi" : "span");
    if (!leftward) element.className = "escape";
    element.textContent = marked ? `‹${marked.slice(1, -1)}›` : hidden ? code(hidden) : leftward;
    nodes.append(element);
  }
  if (done < text.length) nodes.append(document.createTextNode(text.slice(done)));
  return nodes;
}

/** Wraps at spaces only: `--force` is not torn into `--` and `force`. Words that are longer than a narrow screen stay as they are. */
export function keepWords(root) {
  const texts = [];
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  while (walker.nextNode() && texts.length < 200) texts.push(walker.currentNode);
  for (const node of texts) {
    if (!node.data.includes("-") || node.data.length > 4000) continue;
    const parts = document.createDocumentFragment();
    for (const part of node.data.split(/(\s+)/)) {
      if (part.includes("-") && part.length <= 28) {
        const word = document.createElement("span");
        word.className = "word";
        word.textContent = part;
        parts.append(word);
      } else {
        parts.append(document.createTextNode(part));
      }
    }
    node.replaceWith(parts);
  }
  return root;
}

/** The same as a plain text, for titles and labels. */
export function plain(text) {
  return QUICK.test(text)
    ? text.replace(PIECES, (whole, marked, hidden) => (marked ? `‹${marked.slice(1, -1)}›` : hidden ? code(hidden) : whole))
    : text;
}

/** At most about `most` characters: the beginning and the end, and how much is between them. */
export function brief(value, most = 160) {
  const text = typeof value === "string" ? value : value === undefined || value === null ? "" : JSON.stringify(value);
  if (text.length <= most + 40) return text;
  const tail = Math.floor(most / 3);
  const left = Array.from(text.slice(0, most - tail));
  const right = Array.from(text.slice(-tail));
  // A pair that was cut in two would be shown as two broken characters.
  if (left.length && left.at(-1).length === 1 && /[\ud800-\udbff]/.test(left.at(-1))) left.pop();
  if (right.length && /^[\udc00-\udfff]$/.test(right[0])) right.shift();
  return `${left.join("")} …${(text.length - most).toLocaleString("en")} more… ${right.join("")}`;
}
