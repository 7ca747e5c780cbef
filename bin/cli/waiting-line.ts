/** Waiting line on a terminal with progress, shown after 1 s. */

import type { WriteStream } from 'node:tty';
import { isKeptQuiet } from './standard-output.ts';

const FIRST_MS = 1000;
const REDRAW_MS = 200;
const CLEAR = '\r\u001b[K';
const DEFAULT_COLUMNS = 80;

export interface WaitingLine {
  /** Progress so far, for example `12,000 entries`. */
  say(text: string): void;
  /** Removes the line; call it before other output. The line returns if the wait continues. */
  clear(): void;
  stop(): void;
}

const NONE: WaitingLine = { say: () => {}, clear: () => {}, stop: () => {} };

export function startWaiting(terminal: WriteStream & { readonly fd?: number }): WaitingLine {
  if (!terminal.isTTY || isKeptQuiet()) return NONE;
  const startMs = performance.now();
  let said = 'waiting for the store';
  let isDrawn = false;
  let quietUntilMs = startMs + FIRST_MS;
  const draw = (): void => {
    const nowMs = performance.now();
    if (nowMs < quietUntilMs) return;
    const columns = terminal.columns > 0 ? terminal.columns : DEFAULT_COLUMNS;
    const text = `${said}, ${Math.floor((nowMs - startMs) / 1000)} s`;
    terminal.write(`${CLEAR}${text.slice(0, columns - 1)}`);
    isDrawn = true;
  };
  const timer = setInterval(draw, REDRAW_MS);
  timer.unref();
  const clear = (): void => {
    if (isDrawn) terminal.write(CLEAR);
    isDrawn = false;
    // Results on the same terminal show enough progress.
    if (process.stdout.isTTY) quietUntilMs = performance.now() + FIRST_MS;
  };
  return {
    say: text => {
      said = text;
    },
    clear,
    stop() {
      clearInterval(timer);
      clear();
    },
  };
}
