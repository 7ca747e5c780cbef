/**
 * Measures, cuts and pads text in terminal cells. A character takes no cell (a combining mark), one cell, or
 * two (Chinese, emoji). Pitfall: control characters would move the cursor, so pass text through `visible`
 * first.
 */

/**
 * Characters of two cells in every terminal that follows Unicode's table of East Asian widths; only the
 * common blocks.
 */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|[\u{1f300}-\u{1f64f}\u{1f900}-\u{1f9ff}\u{20000}-\u{3fffd}]/u;
const NO_CELL = /[\p{Mn}\p{Me}\p{Cf}]/u;
const PLAIN = /^[\x20-\x7e]*$/;
const CUT_MARK = '…';

export function cellWidth(text: string): number {
  if (PLAIN.test(text)) return text.length;
  let cells = 0;
  for (const character of text) cells += widthOf(character);
  return cells;
}

function widthOf(character: string): number {
  if (NO_CELL.test(character)) return 0;
  return WIDE.test(character) ? 2 : 1;
}

/** Cuts a text to at most `maxCells` cells. The last cell shows that text was cut. */
export function cutCells(text: string, maxCells: number): string {
  if (cellWidth(text) <= maxCells) return text;
  let cells = 0;
  let kept = '';
  for (const character of text) {
    cells += widthOf(character);
    if (cells > maxCells - 1) break;
    kept += character;
  }
  return maxCells > 0 ? kept + CUT_MARK : '';
}

export function padCells(text: string, cells: number, align: 'left' | 'right' = 'left'): string {
  const gap = ' '.repeat(Math.max(0, cells - cellWidth(text)));
  return align === 'left' ? text + gap : gap + text;
}
