/** The words of a line as a shell reads it, up to the cursor: quotes and backslashes, but neither variables nor commands. */

export type Quote = '' | "'" | '"';

export interface ShellWord {
  /** Without quotes and backslashes. */
  readonly text: string;
  /** What is open at the end of the word. */
  readonly quote: Quote;
}

/** The last word is the one at the cursor; it is empty behind a space. */
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
      // Between double quotes most backslashes are characters.
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

/** The text as it stands behind the quote that is open. */
export function escapedWord(text: string, quote: Quote): string {
  if (quote === "'") return text.replaceAll("'", "'\\''");
  if (quote === '"') return text.replaceAll(/["\\$`]/g, '\\$&');
  return text;
}
