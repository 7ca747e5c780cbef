/**
 * Text in the cells of a terminal: how wide it is, cut to a width, filled up to one. A character may take no cell (a mark over
 * the one before), one or two (Chinese, emoji). Control characters would move the cursor: `visible` comes first.
 */

/** Two cells in every terminal that follows Unicode's table of East Asian widths, the common blocks of it. */
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

/** At most so many cells wide; the last one says where something was cut off. */
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
