/** Readable line: the message, other fields in a softer color, and the number of folded lines. */
import { useMemo } from 'preact/hooks';
import { foldedLines, readLine } from '../lines/message.ts';
import { matchesIn } from '../logql/highlights.ts';
import { lineText } from './line-text.tsx';

interface ReadTextProps {
  readonly line: string;
  readonly highlights: readonly RegExp[];
  /** True if the line is in one row. */
  readonly flat: boolean;
}

/** Maximum fields in one row; no screen is wide enough for more. */
const MAX_FLAT_FIELDS = 40;

export function ReadText({ line, highlights, flat }: ReadTextProps) {
  return useMemo(() => readText(line, highlights, flat), [line, highlights, flat]);
}

/** Content of a readable line without a component, as `lineText`. */
export function readText(line: string, highlights: readonly RegExp[], flat: boolean) {
  const read = readLine(line);
  const count = foldedLines(read);
  const hasMatch = matchesIn(read.folded, highlights).length > 0;
  const badge = `+${count} ${count === 1 ? 'line' : 'lines'}`;
  return (
    <>
      {lineText(read.message, highlights, flat)}
      {count > 0 && [' ', <span class="log-fold">{hasMatch ? <mark>{badge}</mark> : badge}</span>]}
      {read.others.slice(0, flat ? MAX_FLAT_FIELDS : undefined).map(([name, value], i) => [
        // A space, so that a copied selection has one.
        ' ',
        <span key={`${i} ${name}`} class="log-field">
          {name}={lineText(value, highlights, flat)}
        </span>,
      ])}
    </>
  );
}
