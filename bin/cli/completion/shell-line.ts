/** Splits a line up to the cursor into words like a shell: with quotes and backslashes, without variables and commands. */

type Quote = '' | "'" | '"';

export interface ShellWord {
  /** Text without quotes and backslashes. */
  readonly text: string;
  /** Open quote at the end of the word. */
  readonly quote: Quote;
}

/** Returns the words. The last one is at the cursor, and is empty after a space. */
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
      // In double quotes, a backslash is literal before most characters.
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

/** Escapes the text for the open quote. */
export function escapedWord(text: string, quote: Quote): string {
  if (quote === "'") return text.replaceAll("'", "'\\''");
  if (quote === '"') return text.replaceAll(/["\\$`]/g, '\\$&');
  return text;
}
