/**
 * Keyboard shortcuts. Components register theirs, and the help sheet lists all of them. Single-letter
 * shortcuts are inactive while the user types; those with Ctrl or Cmd are not.
 */
import { useEffect } from 'preact/hooks';
import { createStore } from '../state/store.ts';

interface Shortcut {
  /** Value of `KeyboardEvent.key`, with the prefix `Mod+` for Ctrl or Cmd. */
  readonly keys: string;
  readonly does: string;
  readonly group: string;
  readonly act: () => void;
}

export const shortcuts = createStore<readonly Shortcut[]>([]);

/**
 * Registers shortcuts while the component is mounted. `list` must be the same array until its contents
 * change.
 */
export function useShortcuts(list: readonly Shortcut[]): void {
  useEffect(() => {
    shortcuts.set([...shortcuts.get(), ...list]);
    return () => shortcuts.set(shortcuts.get().filter(shortcut => !list.includes(shortcut)));
  }, [list]);
}

export function listenForShortcuts(): void {
  document.addEventListener('keydown', event => {
    if (event.defaultPrevented || event.altKey || event.isComposing) return;
    const mod = event.ctrlKey || event.metaKey;
    if (!mod && isTyping(event)) return;
    // The key has another meaning there.
    if (
      event.key === 'Enter' &&
      !mod &&
      event.target instanceof Element &&
      event.target.closest('button, a') !== null
    )
      return;
    // Shortcuts are inactive behind an open sheet.
    if (document.querySelector('dialog[open]') !== null) return;
    const keys = mod ? `Mod+${event.key}` : event.key;
    const found = shortcuts.get().findLast(shortcut => shortcut.keys === keys);
    if (found === undefined) return;
    event.preventDefault();
    found.act();
  });
}

/** The editor is in a shadow tree: the event's target is its host, so check the composed path. */
function isTyping(event: KeyboardEvent): boolean {
  const target = event.composedPath()[0];
  if (!(target instanceof HTMLElement)) return false;
  if (
    target.isContentEditable ||
    target instanceof HTMLTextAreaElement ||
    target instanceof HTMLSelectElement
  )
    return true;
  return target instanceof HTMLInputElement && !['radio', 'checkbox', 'button'].includes(target.type);
}

const IS_MAC = /Mac|iPhone|iPad/.test(navigator.platform);

/** Key names to show: `Ctrl Enter`. */
export function keysText(keys: string): readonly string[] {
  return keys.split('+').map(key => {
    if (key === 'Mod') return IS_MAC ? '⌘' : 'Ctrl';
    if (key === 'ArrowLeft') return '←';
    if (key === 'ArrowRight') return '→';
    return key === 'Escape' ? 'Esc' : key;
  });
}
