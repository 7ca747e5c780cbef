/**
 * The terminal of `logboom view`, by terminal-kit: its second screen, keys by name, and what is drawn. The
 * terminal is restored however the command ends. Why this library: docs/dev/decisions/0010-terminal-library.md.
 */
import { Transform } from 'node:stream';
import type { ReadStream } from 'node:tty';
import { TextDecoder } from 'node:util';
import terminalKit from 'terminal-kit';
import type { ScreenSize } from '../standard-output.ts';
import { keyOf } from './keys.ts';
import type { Screen, ScreenRow } from './screen.ts';
import type { Key } from './state.ts';

interface Terminal {
  size(): ScreenSize;
  draw(screen: Screen): void;
  close(): void;
}

export function openTerminal(onKey: (key: Key) => void, onResize: () => void): Terminal {
  const { stdin, stdout, stderr } = process;
  const { appId, generic, safe, isSSH } = terminalKit.guessTerminal();
  const term = terminalKit.createTerminal({
    stdin: inWholeCharacters(stdin),
    stdout,
    stderr,
    generic,
    appId: safe ? appId : undefined,
    isTTY: true,
    isSSH,
  });
  term.on('key', (name, _, data) => {
    const key = keyOf(name, data);
    if (key !== undefined) onKey(key);
  });
  term.on('resize', () => {
    drawn = [];
    onResize();
  });
  term.fullscreen(true);
  term.hideCursor();
  term.grabInput({});

  /** Rows on the screen: only others are written. */
  let drawn: readonly string[] = [];
  let isOpen = true;
  const close = () => {
    if (!isOpen) return;
    isOpen = false;
    process.off('exit', close);
    term.grabInput(false);
    term.fullscreen(false);
    term.hideCursor(false);
  };
  process.on('exit', close);

  const { str } = term;
  return {
    size: () => ({ columns: term.width, rows: term.height }),
    draw({ rows, cursor }) {
      if (!isOpen) return;
      const texts = Array.from({ length: term.height }, (_, y) => rowText(rows[y]));
      const changed = texts.flatMap((text, y) =>
        text === drawn[y] ? [] : [str.moveTo(1, y + 1) + text + str.eraseLineAfter()],
      );
      drawn = texts;
      const cursorMove =
        cursor === undefined ? '' : str.moveTo(cursor[0] + 1, cursor[1] + 1) + str.hideCursor(false);
      stdout.write(str.hideCursor() + changed.join('') + cursorMove);
    },
    close,
  };

  function rowText(row: ScreenRow | undefined): string {
    if (row === undefined) return '';
    return row.style === undefined ? row.text : str[row.style].noFormat(row.text);
  }
}

/**
 * Standard input in whole characters. Pitfall: terminal-kit never returns from a byte that starts no
 * character, which a pasted text of another encoding has, and any text that is read in two pieces.
 */
function inWholeCharacters(stdin: ReadStream): ReadStream {
  const decoder = new TextDecoder();
  const whole = new Transform({
    transform: (piece, _, done) => done(null, decoder.decode(piece, { stream: true })),
  });
  stdin.pipe(whole);
  const setRawMode = (isRaw: boolean) => {
    stdin.setRawMode(isRaw);
    return whole;
  };
  return Object.assign(whole, { isTTY: true, setRawMode }) as unknown as ReadStream;
}
