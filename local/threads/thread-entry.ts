/** The file of a thread, beside this module: in the source tree in TypeScript, in a bundle in CommonJS. */
import { isSea } from 'node:sea';

/** What a Worker runs: a file, or text. */
export type ThreadEntry = URL | { readonly code: string };

/** @param name without its extension */
export function threadEntry(name: string): ThreadEntry {
  // Inside a single executable it is a part that the program's first one loads (scripts/single/main.cjs).
  if (isSea())
    return { code: `(0, eval)(require('node:sea').getAsset('load.cjs', 'utf8'))(require)('./${name}.cjs')` };
  const [extension] = /\w+$/.exec(import.meta.url)!;
  return new URL(`./${name}.${extension}`, import.meta.url);
}
