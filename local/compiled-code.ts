/**
 * Saves the compiled code of this thread for the next start, if the program runs from a bundle
 * (bin/load-bundle.cjs). Call it before garbage is collected, which drops compiled functions.
 */
const SAVE = Symbol.for('logboom.saveCompiledCode');

export function saveCompiledCode(): void {
  (globalThis as { [SAVE]?: () => void })[SAVE]?.();
}
