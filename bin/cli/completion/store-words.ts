/**
 * Completes the word at the cursor of a shell from the store: label names and values in a quoted query, as in `logboom query '{app="sh`,
 * and label names as arguments.
 */
import { type Completion, completed, completionAt } from '../view/query-line.ts';
import type { ShellWord } from './shell-line.ts';

/** Shells ask for confirmation before they list more. */
const MAX_WORDS = 200;

/** Returns label names, or the values of one label. */
export type LabelWords = (name?: string) => Promise<readonly string[]>;

/** Options whose value is a comma-separated list of label names. */
const NAME_LISTS: ReadonlySet<string> = new Set(['--target-labels']);

interface WordContext {
  /** Name of the command. */
  readonly command: string;
  /** Words between the command and the one at the cursor. */
  readonly before: readonly string[];
  readonly word: ShellWord;
}

/** Candidates for the whole word, without quotes. */
export async function storeWords(
  { command, before, word: { text, quote } }: WordContext,
  labels: LabelWords,
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

async function queryWords(text: string, labels: LabelWords): Promise<readonly string[]> {
  const line = { text, cursor: text.length };
  const completion = completionAt(line);
  if (completion?.kind === 'name') {
    const names = startingWith(await labels(), completion.prefix);
    // Shells end the word after a single candidate, so a single name continues with its values.
    if (names.length !== 1) return names.map(name => `${completed(line, completion, name).text}=`);
    const { text: named } = completed(line, completion, names[0]);
    return valueWords(`${named}="`, { kind: 'value', label: names[0], prefix: '' }, labels);
  }
  return completion?.kind === 'value' ? valueWords(text, completion, labels) : [];
}

/** Candidates are complete selectors, after which typing can continue. */
async function valueWords(
  text: string,
  completion: Extract<Completion, { kind: 'value' }>,
  labels: LabelWords,
): Promise<readonly string[]> {
  const values = startingWith(await labels(completion.label), completion.prefix);
  const line = { text, cursor: text.length };
  return values.map(value => `${completed(line, completion, value).text}}`);
}

function startingWith(words: readonly string[], prefix: string): string[] {
  return words.filter(word => word.startsWith(prefix)).slice(0, MAX_WORDS);
}
