/** The words of a Markdown page that a person reads: without code, addresses and the marks of Markdown. */
import { withoutBlocks, withoutCode } from './code-blocks.ts';

export function proseOf(markdown: string): string {
  return withoutCode(markdown)
    .replace(/<!--[\s\S]*?-->/g, ' ')
    .replace(/\]\([^)]*\)/g, '] ')
    .replace(/https?:\/\/\S+/g, ' ')
    .replace(/[|*#>]|^-+$|\|---.*/gm, ' ');
}

/** Length of a page for its reader: words of prose and tables, without code blocks. */
export function countWords(markdown: string): number {
  return withoutBlocks(markdown)
    .split(/\s+/)
    .filter(word => /[\p{L}\p{N}]/u.test(word)).length;
}

/** Words that a dictionary can know: no numbers, names in capitals, or parts of a path or an identifier. */
export function plainWords(markdown: string): string[] {
  return proseOf(markdown)
    .split(/[^\p{L}\p{N}'’_./@:&-]+/u)
    .map(word => word.replace(/^['’./:&-]+|['’./:&-]+$/gu, '').replace(/['’]s$/u, ''))
    .flatMap(word => (/[._/@:&\d]/.test(word) ? [] : word.split('-')))
    .filter(word => /^[\p{L}'’]{2,}$/u.test(word) && !/\p{L}\p{Lu}/u.test(word));
}
