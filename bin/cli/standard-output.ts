/** Standard output that waits for a slow reader, ends quietly with one that leaves (`| head`), and knows colours and width. */
import { once } from 'node:events';
import { styleText } from 'node:util';
import type { Paint } from './answer-text.ts';

/** Some terminals do not tell. */
const DEFAULT_COLUMNS = 80;
const DEFAULT_ROWS = 24;

let endsWithReader = false;

/** To be called before the first write; once is enough. */
export function endWithReader(): void {
  if (endsWithReader) return;
  endsWithReader = true;
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0);
    throw error;
  });
}

export async function print(text: string): Promise<void> {
  if (!process.stdout.write(text)) await once(process.stdout, 'drain');
}

export interface ScreenSize {
  readonly columns: number;
  readonly rows: number;
}

/** Of the terminal; where it is none, as COLUMNS and LINES say. */
export function screenSize(): ScreenSize {
  const { columns, rows, isTTY } = process.stdout;
  const told = (name: string, otherwise: number) => {
    const value = Number(process.env[name]);
    return Number.isInteger(value) && value > 0 ? value : otherwise;
  };
  return {
    columns: isTTY && columns > 0 ? columns : told('COLUMNS', DEFAULT_COLUMNS),
    rows: isTTY && rows > 0 ? rows : told('LINES', DEFAULT_ROWS),
  };
}

/** Lines of a table are cut at the edge of a terminal, and nowhere else. */
export function maxCellsOfOutput(): number | undefined {
  return process.stdout.isTTY ? screenSize().columns : undefined;
}

/** Whether what is painted has colours: a terminal that knows them; NO_COLOR and FORCE_COLOR are respected. */
export function hasColours(): boolean {
  return styleText('red', 'x', { stream: process.stdout }) !== 'x';
}

/** Colours where standard output has them. */
export const OUTPUT_PAINT: Paint = {
  time: text => styleText('blue', text, { stream: process.stdout }),
  labels: text => styleText('cyan', text, { stream: process.stdout }),
};
