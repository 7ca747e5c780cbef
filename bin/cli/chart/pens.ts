/**
 * Pens that distinguish the lines of a chart: colors, or letters if there are no colors. A single line needs
 * neither.
 */

/** Maximum number of lines that a reader can follow. */
export const MAX_PENS = 8;
const COLORS = [36, 33, 32, 35, 34, 31, 96, 93];
const MARK = '━━';
const LETTERS = 'abcdefgh';

export interface Pens {
  readonly letters: string;
  /** Text in the color of a pen. Returns it unchanged if the pen is undefined or has no color. */
  paint(text: string, pen: number): string;
  /** Mark before the name in the legend. */
  mark(pen: number): string;
}

export function pensOf(colors: boolean, lines: number): Pens {
  const plain = (text: string) => text;
  if (!colors) return { letters: LETTERS, paint: plain, mark: pen => (lines === 1 ? MARK : LETTERS[pen]) };
  const paint = (text: string, pen: number) =>
    pen < 0 ? text : `\u001b[${COLORS[pen % COLORS.length]}m${text}\u001b[39m`;
  return { letters: LETTERS, paint, mark: pen => paint(MARK, pen) };
}
