/**
 * Words that the store knows for the word at the cursor of a shell: label names and values in a quoted query,
 * as in `logboom query '{app="sh`, and label names as arguments of a command.
 */
import { type Completion, completed, completionAt } from '../view/query-line.ts';
import type { ShellWord } from './shell-line.ts';

/** Shells ask before they list more. */
const MAX_WORDS = 200;

/** Returns label names, or the values of one label. */
export type LabelSource = (name?: string) => Promise<readonly string[]>;

/** Options whose value is a list of label names, separated by commas. */
const NAME_LISTS: ReadonlySet<string> = new Set(['--target-labels']);

export interface WordPlace {
  /** Names of the command and its group. */
  readonly command: string;
  /** Words between the command and the one at the cursor. */
  readonly before: readonly string[];
  readonly word: ShellWord;
}

/** Returns candidates for the whole word, without quotes. */
export async function storeWords(
  { command, before, word: { text, quote } }: WordPlace,
  labels: LabelSource,
): Promise<readonly string[]> {
  if (quote !== '') return queryWords(text, labels);
  const option = before.at(-1) ?? '';
  if (NAME_LISTS.has(option)) {
    const kept = text.slice(0, text.lastIndexOf(',') + 1);
    return startingWith(await labels(), text.slice(kept.length)).map(name => kept + name);
  }
  if (command === 'labels' && !option.startsWith('-')) return startingWith(await labels(), text);
  return [];
}

async function queryWords(text: string, labels: LabelSource): Promise<readonly string[]> {
  const line = { text, cursor: text.length };
  const completion = completionAt(line);
  if (completion?.kind === 'name') {
    const names = startingWith(await labels(), completion.prefix);
    // A single name continues with its values: a shell ends the word after an only choice.
    if (names.length !== 1) return names.map(name => `${completed(line, completion, name).text}=`);
    const { text: named } = completed(line, completion, names[0]);
    return valueWords(`${named}="`, { kind: 'value', label: names[0], prefix: '' }, labels);
  }
  return completion?.kind === 'value' ? valueWords(text, completion, labels) : [];
}

/** Returns whole selectors, which the user can extend. */
async function valueWords(
  text: string,
  completion: Extract<Completion, { kind: 'value' }>,
  labels: LabelSource,
): Promise<readonly string[]> {
  const values = startingWith(await labels(completion.label), completion.prefix);
  const line = { text, cursor: text.length };
  return values.map(value => `${completed(line, completion, value).text}}`);
}

function startingWith(words: readonly string[], prefix: string): string[] {
  return words.filter(word => word.startsWith(prefix)).slice(0, MAX_WORDS);
}
