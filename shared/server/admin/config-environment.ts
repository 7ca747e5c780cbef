/**
 * Replaces `${VAR}` and `${VAR:default}` (also `:-` and `:=`) in a configuration file. An unset or empty
 * variable is replaced by its default, or by nothing. Only the form with braces counts, because `$` also
 * occurs in regular expressions.
 *
 * Pitfall: after the replacement, columns differ from the file that a person edits. Lines differ too if a
 * value has several lines. Messages must name the positions in the file.
 */
import type { Environment } from '../../base/model/environment.ts';

const REFERENCE = /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::[-=]?([^}]*))?\}/g;

interface ExpandedText {
  readonly text: string;
  /**
   * Maps an offset of the text to an offset of the file. Inside a variable it is the start of the variable.
   */
  sourceOffset(offset: number): number;
}

export function expandWithOffsets(source: string, environment: Environment): ExpandedText {
  /** Start and end of each variable's value, and its position in the file. */
  const spans: {
    readonly start: number;
    readonly end: number;
    readonly from: number;
    readonly to: number;
  }[] = [];
  let text = '';
  let done = 0;
  for (const match of source.matchAll(REFERENCE)) {
    const [whole, name, fallback] = match;
    text += source.slice(done, match.index);
    const start = text.length;
    text += environment[name] || (fallback ?? '');
    done = match.index + whole.length;
    spans.push({ start, end: text.length, from: match.index, to: done });
  }
  text += source.slice(done);
  const sourceOffset = (offset: number): number => {
    const span = spans.findLast(({ start }) => start <= offset);
    if (span === undefined) return offset;
    return offset < span.end ? span.from : span.to + (offset - span.end);
  };
  return { text, sourceOffset };
}
