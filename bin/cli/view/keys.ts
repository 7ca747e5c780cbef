/** Keys of `logboom view`. Apart from the terminal, so that a test needs none. */
import type { KeyData } from 'terminal-kit';
import type { Key } from './state.ts';

/** Keys that the view uses, by their names in terminal-kit. */
const NAMES: Readonly<Record<string, string>> = {
  UP: 'up',
  DOWN: 'down',
  LEFT: 'left',
  RIGHT: 'right',
  HOME: 'home',
  END: 'end',
  PAGE_UP: 'pageup',
  PAGE_DOWN: 'pagedown',
  BACKSPACE: 'backspace',
  DELETE: 'delete',
  ESCAPE: 'escape',
  TAB: 'tab',
  ENTER: 'enter',
  KP_ENTER: 'enter',
  CTRL_J: 'enter',
  CTRL_A: 'home',
  CTRL_E: 'end',
  CTRL_U: 'erase',
  CTRL_C: 'quit',
  CTRL_D: 'quit',
};

/** Undefined for a key that means nothing. */
export function keyOf(name: string, { isCharacter }: KeyData): Key | undefined {
  if (isCharacter) return /\p{Cc}/u.test(name) ? undefined : { name: undefined, text: name };
  return NAMES[name] === undefined ? undefined : { name: NAMES[name], text: '' };
}
