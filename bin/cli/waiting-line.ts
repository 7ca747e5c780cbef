/** Says on a terminal that something takes its time, and how far it is. Nothing for what is done within a second. */

import type { WriteStream } from 'node:tty';
import { isKeptQuiet } from './standard-output.ts';

const FIRST_MS = 1000;
const REDRAW_MS = 200;
const CLEAR = '\r\u001b[K';
const DEFAULT_COLUMNS = 80;

export interface WaitingLine {
  /** What is known by now, for example `12,000 entries`. */
  say(text: string): void;
  /** To be called before anything else is written: the line goes, and comes back where it takes longer. */
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
    // What is printed on the same terminal tells enough by itself.
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
