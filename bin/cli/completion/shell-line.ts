/**
 * Splits a line up to the cursor into words as a shell does: handles quotes and backslashes, not variables or
 * commands.
 */

export type Quote = '' | "'" | '"';

export interface ShellWord {
  /** Without quotes and backslashes. */
  readonly text: string;
  /** The quote that is open at the end of the word. */
  readonly quote: Quote;
}

/** The last word is the one at the cursor. It is empty after a space. */
export function shellWords(line: string): readonly ShellWord[] {
  const words: ShellWord[] = [];
  let text = '';
  let quote: Quote = '';
  let isWord = false;
  for (let i = 0; i < line.length; i++) {
    const character = line[i];
    if (quote === "'") {
      if (character === "'") quote = '';
      else text += character;
    } else if (character === '\\' && i + 1 < line.length) {
      const next = line[++i];
      // Between double quotes, most backslashes are characters.
      text += quote === '' || /["\\$`]/.test(next) ? next : `\\${next}`;
    } else if (quote === '"') {
      if (character === '"') quote = '';
      else text += character;
    } else if (character === "'" || character === '"') quote = character;
    else if (/\s/.test(character)) {
      if (isWord) words.push({ text, quote });
      text = '';
      isWord = false;
      continue;
    } else text += character;
    isWord = true;
  }
  return [...words, { text, quote }];
}

/** Returns the text escaped for the open quote. */
export function escapedWord(text: string, quote: Quote): string {
  if (quote === "'") return text.replaceAll("'", "'\\''");
  if (quote === '"') return text.replaceAll(/["\\$`]/g, '\\$&');
  return text;
}
