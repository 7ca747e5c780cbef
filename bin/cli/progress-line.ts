/** Progress line of a push, shown only on a terminal. */
import type { WriteStream } from 'node:tty';
import { formatByteSize } from '../../shared/base/model/byte-size.ts';
import { visible } from '../../shared/base/model/visible-text.ts';

/** Minimum time between redraws; faster ones are not readable. */
const MIN_REDRAW_MS = 100;
const BAR_CHARACTERS = 20;
const DEFAULT_COLUMNS = 80;
const CLEAR = '\r\u001b[K';

interface ProgressState {
  readonly bytes: number;
  /** Size of the input; undefined if unknown. */
  readonly totalBytes: number | undefined;
  readonly lines: number;
  readonly seconds: number;
}

export class ProgressLine {
  readonly #terminal: WriteStream;
  readonly #totalBytes: number | undefined;
  readonly #startMs = performance.now();
  #drawnMs = -Infinity;
  #totals = { bytes: 0, lines: 0 };
  #waiting = '';

  constructor(terminal: WriteStream, totalBytes: number | undefined) {
    this.#terminal = terminal;
    this.#totalBytes = totalBytes;
  }

  show(totals: { readonly bytes: number; readonly lines: number }): void {
    this.#totals = totals;
    this.#waiting = '';
    this.#draw();
  }

  /** Shows why nothing progresses, until something does. */
  wait(reason: string): void {
    this.#waiting = `  ${reason}`;
    this.#draw();
  }

  #draw(): void {
    const { bytes, lines } = this.#totals;
    const nowMs = performance.now();
    if (nowMs - this.#drawnMs < MIN_REDRAW_MS) return;
    this.#drawnMs = nowMs;
    const seconds = (nowMs - this.#startMs) / 1000;
    const text =
      progressLineText({ bytes, totalBytes: this.#totalBytes, lines, seconds }) + visible(this.#waiting);
    // A line that wraps cannot be cleared. Some terminals do not report their width.
    const columns = this.#terminal.columns > 0 ? this.#terminal.columns : DEFAULT_COLUMNS;
    this.#terminal.write(`${CLEAR}${text.slice(0, columns - 1)}`);
  }

  clear(): void {
    if (this.#drawnMs > 0) this.#terminal.write(CLEAR);
  }
}

/** For example `[#####---------------]  25%  1.0MB of 4.0MB  9000 lines  2.0MB/s`. */
export function progressLineText({ bytes, totalBytes, lines, seconds }: ProgressState): string {
  const rate = `${formatByteSize(Math.round(bytes / Math.max(seconds, 0.001)))}/s`;
  if (totalBytes === undefined || totalBytes === 0)
    return `${formatByteSize(bytes)}  ${lines} lines  ${rate}`;
  // A file may grow while it is read.
  const part = Math.min(bytes / totalBytes, 1);
  const bar = '#'.repeat(Math.floor(part * BAR_CHARACTERS)).padEnd(BAR_CHARACTERS, '-');
  const percent = `${Math.floor(part * 100)}%`.padStart(4);
  return `[${bar}] ${percent}  ${formatByteSize(bytes)} of ${formatByteSize(totalBytes)}  ${lines} lines  ${rate}`;
}
