/** The terminal of `logboom view`: its second screen, keys by name, and what is drawn. It is given back however the command ends. */
import { emitKeypressEvents } from 'node:readline';
import ansi from 'ansi-escapes';
import { screenSize } from '../standard-output.ts';
import type { Screen } from './screen.ts';
import type { Key } from './state.ts';

/** Names of Node's keys that have another name here; null: a key that does nothing. */
const NAMES: Readonly<Record<string, string>> = {
  return: 'enter',
  enter: 'enter',
};
const NAMED = new Set([
  'up',
  'down',
  'left',
  'right',
  'home',
  'end',
  'pageup',
  'pagedown',
  'backspace',
  'delete',
  'escape',
  'tab',
]);
const CONTROLS: Readonly<Record<string, string>> = { c: 'quit', d: 'quit', a: 'home', e: 'end', u: 'erase' };

interface NodeKey {
  readonly name?: string;
  readonly ctrl?: boolean;
  readonly meta?: boolean;
}

/** Undefined for a key that means nothing. */
export function keyOf(
  text: string | undefined,
  { name = '', ctrl = false, meta = false }: NodeKey,
): Key | undefined {
  if (ctrl) return CONTROLS[name] === undefined ? undefined : { name: CONTROLS[name], text: '' };
  const named = NAMES[name] ?? (NAMED.has(name) ? name : undefined);
  if (named !== undefined) return { name: named, text: '' };
  if (meta || text === undefined || /\p{Cc}/u.test(text)) return undefined;
  return { name: undefined, text };
}

interface Terminal {
  draw(screen: Screen): void;
  close(): void;
}

export function openTerminal(onKey: (key: Key) => void, onResize: () => void): Terminal {
  const { stdin, stdout } = process;
  const keyPressed = (text: string | undefined, key: NodeKey) => {
    const known = keyOf(text, key);
    if (known !== undefined) onKey(known);
  };
  emitKeypressEvents(stdin);
  stdin.setRawMode(true);
  stdin.resume();
  stdin.on('keypress', keyPressed);
  stdout.on('resize', onResize);
  stdout.write(ansi.enterAlternativeScreen + ansi.cursorHide);
  let isOpen = true;
  const close = () => {
    if (!isOpen) return;
    isOpen = false;
    stdin.off('keypress', keyPressed);
    stdout.off('resize', onResize);
    stdin.setRawMode(false);
    stdin.pause();
    stdout.write(ansi.exitAlternativeScreen + ansi.cursorShow);
    process.off('exit', close);
  };
  process.on('exit', close);
  return {
    draw({ lines, cursor }) {
      if (!isOpen) return;
      const { rows } = screenSize();
      const text = Array.from(
        { length: rows },
        (_, y) => ansi.cursorTo(0, y) + (lines[y] ?? '') + ansi.eraseEndLine,
      ).join('');
      const place = cursor === undefined ? '' : ansi.cursorTo(...cursor) + ansi.cursorShow;
      stdout.write(ansi.cursorHide + text + place);
    },
    close,
  };
}
