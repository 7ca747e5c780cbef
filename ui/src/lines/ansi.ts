/**
 * ANSI colors in a line: the text without color sequences, and its style runs. Other sequences, such as
 * cursor moves and titles, stay visible in the text.
 */
export interface AnsiStyle {
  /** 0 to 15 of the sixteen colors, or `#rrggbb`. */
  readonly color?: number | string;
  readonly ground?: number | string;
  readonly bold?: boolean;
  readonly faint?: boolean;
  readonly italic?: boolean;
  readonly underlined?: boolean;
}

export interface AnsiText {
  readonly text: string;
  /** Style runs in order; each ends where the next begins. Empty if the line has no sequence. */
  readonly runs: readonly { readonly from: number; readonly style: AnsiStyle }[];
}

/**
 * Also matches "clear to end of line" (K), which programs that color words write with each color (grep,
 * compilers).
 */
const SEQUENCE = /\u001b\[(?:([0-9;:]*)m|K)/g;
const CUBE = [0, 95, 135, 175, 215, 255];

export function parseAnsi(line: string): AnsiText {
  if (!line.includes('\u001b')) return { text: line, runs: [] };
  const runs: { from: number; style: AnsiStyle }[] = [];
  let text = '';
  let style: AnsiStyle = {};
  let end = 0;
  for (const found of line.matchAll(SEQUENCE)) {
    text += line.slice(end, found.index);
    end = found.index + found[0].length;
    if (found[1] === undefined) continue;
    style = changed(style, found[1]);
    if (runs.at(-1)?.from === text.length) runs.pop();
    runs.push({ from: text.length, style });
  }
  return { text: text + line.slice(end), runs };
}

/** Applies the parameters of `ESC [ ... m` in order. */
function changed(before: AnsiStyle, parameters: string): AnsiStyle {
  const codes = parameters === '' ? [0] : parameters.split(/[;:]/).map(Number);
  let style: AnsiStyle = before;
  for (let i = 0; i < codes.length; i++) {
    const code = codes[i];
    if (code === 0) style = {};
    else if (code === 1) style = { ...style, bold: true };
    else if (code === 2) style = { ...style, faint: true };
    else if (code === 3) style = { ...style, italic: true };
    else if (code === 4) style = { ...style, underlined: true };
    else if (code === 22) style = { ...style, bold: undefined, faint: undefined };
    else if (code === 23) style = { ...style, italic: undefined };
    else if (code === 24) style = { ...style, underlined: undefined };
    else if (code === 39) style = { ...style, color: undefined };
    else if (code === 49) style = { ...style, ground: undefined };
    else if (code >= 30 && code <= 37) style = { ...style, color: code - 30 };
    else if (code >= 90 && code <= 97) style = { ...style, color: code - 82 };
    else if (code >= 40 && code <= 47) style = { ...style, ground: code - 40 };
    else if (code >= 100 && code <= 107) style = { ...style, ground: code - 92 };
    else if (code === 38 || code === 48) {
      const [color, used] = extended(codes, i + 1);
      if (color !== undefined) style = code === 38 ? { ...style, color } : { ...style, ground: color };
      i += used;
    }
  }
  return style;
}

/** Color of `5;n` or `2;r;g;b`, and the number of codes that it uses. */
function extended(codes: readonly number[], at: number): [number | string | undefined, number] {
  if (codes[at] === 5) {
    const n = codes[at + 1];
    if (!(n >= 0 && n <= 255)) return [undefined, 2];
    if (n < 16) return [n, 2];
    if (n >= 232) return [hex(8 + (n - 232) * 10, 8 + (n - 232) * 10, 8 + (n - 232) * 10), 2];
    const i = n - 16;
    return [hex(CUBE[Math.floor(i / 36)], CUBE[Math.floor(i / 6) % 6], CUBE[i % 6]), 2];
  }
  if (codes[at] === 2) {
    const [r, g, b] = codes.slice(at + 1, at + 4);
    const valid = [r, g, b].every(part => part >= 0 && part <= 255);
    return [valid ? hex(r, g, b) : undefined, 4];
  }
  return [undefined, 1];
}

function hex(r: number, g: number, b: number): string {
  return `#${[r, g, b].map(part => part.toString(16).padStart(2, '0')).join('')}`;
}
