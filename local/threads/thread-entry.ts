/** The file of a thread, beside this module: in the source tree in TypeScript, in a bundle in CommonJS. */
const EXTENSION = /\w+$/.exec(import.meta.url)![0];

/** @param name without its extension */
export function threadEntryUrl(name: string): URL {
  return new URL(`./${name}.${EXTENSION}`, import.meta.url);
}
