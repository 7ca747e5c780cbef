/**
 * Standard output that waits for a slow reader, ends quietly with one that leaves (`| head`), and knows colours and width; and
 * standard error, for what is no result. On a terminal neither writes anything of clients that the terminal obeys.
 */
import { once } from 'node:events';
import { styleText } from 'node:util';
import { visible, visibleLines } from '../../shared/base/model/visible-text.ts';
import type { Paint } from './paint.ts';

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

/** Text that may hold whatever a client wrote. In a pipe its bytes stay. */
export function print(text: string): Promise<void> {
  return printPainted(process.stdout.isTTY ? visibleLines(text) : text);
}

/**
 * Text with escape sequences of our own.
 *
 * Pitfall: what clients wrote must have gone through OUTPUT_PAINT or `shown` before.
 */
export async function printPainted(text: string): Promise<void> {
  if (!process.stdout.write(text)) await once(process.stdout, 'drain');
}

/** To standard error, with the line's end where it is wanted: messages, warnings, what is told beside the result. */
export function say(text: string): void {
  process.stderr.write(process.stderr.isTTY ? visibleLines(text) : text);
}

let isQuiet = false;

/** Turns off `tell`, and progress. */
export function keepQuiet(quiet: boolean): void {
  isQuiet = quiet;
}

/** Standard error for what --quiet leaves out: common labels, progress, notes. */
export function tell(text: string): void {
  if (!isQuiet) say(text);
}

export function isKeptQuiet(): boolean {
  return isQuiet;
}

/** A value that stands on a line with others: on a terminal its line breaks are shown by name, too. */
export function shown(value: string): string {
  return process.stdout.isTTY ? visible(value) : value;
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
  labels: text => styleText('cyan', shown(text), { stream: process.stdout }),
  given: text => (process.stdout.isTTY ? visibleLines(text) : text),
  get indent() {
    return process.stdout.isTTY ? '  ' : '';
  },
};
