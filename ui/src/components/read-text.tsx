/** Readable line: the message, the number of folded lines, and other fields in a softer color. */
import { useMemo } from 'preact/hooks';
import { foldedLines, readLine } from '../lines/message.ts';
import { matchesIn } from '../logql/highlights.ts';
import { lineText, MAX_FLAT_CHARACTERS } from './line-text.tsx';

interface ReadTextProps {
  readonly line: string;
  readonly highlights: readonly RegExp[];
  /** True if the line is in one row. */
  readonly flat: boolean;
}

export function ReadText({ line, highlights, flat }: ReadTextProps) {
  return useMemo(() => readText(line, highlights, flat), [line, highlights, flat]);
}

/** Content of a readable line without a component, as `lineText`. */
export function readText(line: string, highlights: readonly RegExp[], flat: boolean) {
  const read = readLine(line);
  const count = foldedLines(read);
  const hasMatch = matchesIn(read.folded, highlights).length > 0;
  const fields = fieldsText(
    read.others,
    flat ? MAX_FLAT_CHARACTERS - read.message.length : Number.POSITIVE_INFINITY,
  );
  const badge = `+${count} ${count === 1 ? 'line' : 'lines'}`;
  return (
    <>
      {lineText(read.message, highlights, flat)}
      {count > 0 && [' ', <span class="log-fold">{hasMatch ? <mark>{badge}</mark> : badge}</span>]}
      {read.message !== '' && fields !== '' && ' '}
      {fields !== '' && <span class="log-fields">{lineText(fields, highlights, flat)}</span>}
    </>
  );
}

/** Fields as one text, because an element for each takes most of the time of a frame. */
function fieldsText(fields: readonly (readonly [string, string])[], maxCharacters: number): string {
  let text = '';
  for (const [name, value] of fields) {
    if (text.length > maxCharacters) break;
    text += `${text === '' ? '' : ' '}${name}=${value}`;
  }
  return text;
}
