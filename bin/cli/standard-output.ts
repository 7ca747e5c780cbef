/**
 * Standard output that waits for a slow reader, ends quietly if the reader exits (`| head`), and knows colors
 * and width. Standard error for everything that is not a result. On a terminal, both escape control
 * characters of clients.
 */
import { once } from 'node:events';
import { styleText } from 'node:util';
import { visible, visibleLines } from '../../shared/base/model/visible-text.ts';
import type { Paint } from './paint.ts';

/** Width if the terminal does not report it. */
const DEFAULT_COLUMNS = 80;
const DEFAULT_ROWS = 24;

let endsWithReader = false;

/** Installs the handler for a closed pipe. Call it before the first write; once is enough. */
export function endWithReader(): void {
  if (endsWithReader) return;
  endsWithReader = true;
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0);
    throw error;
  });
}

/** Prints text that may contain client data. In a pipe, its bytes are unchanged. */
export function print(text: string): Promise<void> {
  return printPainted(process.stdout.isTTY ? visibleLines(text) : text);
}

/**
 * Prints text with our own escape sequences.
 *
 * Pitfall: pass client data through OUTPUT_PAINT or `shown` first.
 */
export async function printPainted(text: string): Promise<void> {
  if (!process.stdout.write(text)) await once(process.stdout, 'drain');
}

/** Prints to standard error and adds a line break if missing: messages, warnings, notes about the result. */
export function say(text: string): void {
  process.stderr.write(process.stderr.isTTY ? visibleLines(text) : text);
}

let isQuiet = false;

/** Turns off `report` and progress. */
export function keepQuiet(quiet: boolean): void {
  isQuiet = quiet;
}

/** Prints to standard error what --quiet suppresses: common labels, progress, notes. */
export function report(text: string): void {
  if (!isQuiet) say(text);
}

export function isKeptQuiet(): boolean {
  return isQuiet;
}

/** Value that is printed within a line: on a terminal, line breaks are escaped, too. */
export function shown(value: string): string {
  return process.stdout.isTTY ? visible(value) : value;
}

export interface ScreenSize {
  readonly columns: number;
  readonly rows: number;
}

/** Size of the terminal, else COLUMNS and LINES. */
export function screenSize(): ScreenSize {
  const { columns, rows, isTTY } = process.stdout;
  const fromEnvironment = (name: string, otherwise: number) => {
    const value = Number(process.env[name]);
    return Number.isInteger(value) && value > 0 ? value : otherwise;
  };
  return {
    columns: isTTY && columns > 0 ? columns : fromEnvironment('COLUMNS', DEFAULT_COLUMNS),
    rows: isTTY && rows > 0 ? rows : fromEnvironment('LINES', DEFAULT_ROWS),
  };
}

/** Maximum width of table lines: the terminal's. Undefined outside a terminal. */
export function maxCellsOfOutput(): number | undefined {
  return process.stdout.isTTY ? screenSize().columns : undefined;
}

/** True if painted output has colors: on a terminal with color support. Respects NO_COLOR and FORCE_COLOR. */
export function hasColors(): boolean {
  return styleText('red', 'x', { stream: process.stdout }) !== 'x';
}

/** Colors, if standard output supports them. */
export const OUTPUT_PAINT: Paint = {
  time: text => styleText('blue', text, { stream: process.stdout }),
  labels: text => styleText('cyan', shown(text), { stream: process.stdout }),
  given: text => (process.stdout.isTTY ? visibleLines(text) : text),
  get indent() {
    return process.stdout.isTTY ? '  ' : '';
  },
};
