/** Locates the file of a thread, next to this module: TypeScript in the source tree, CommonJS in a bundle. */
import { isSea } from 'node:sea';

/** Code for a Worker: a file or text. */
export type ThreadEntry = URL | { readonly code: string };

/** @param name file name without extension */
export function threadEntry(name: string): ThreadEntry {
  // In a single executable, it is a part that the main program loads (scripts/single/main.mjs).
  if (isSea())
    return { code: `(0, eval)(require('node:sea').getAsset('load.cjs', 'utf8'))(require)('./${name}.cjs')` };
  const [extension] = /\w+$/.exec(import.meta.url)!;
  return new URL(`./${name}.${extension}`, import.meta.url);
}
