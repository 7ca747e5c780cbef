/**
 * `${VAR}` and `${VAR:default}` (also `:-` and `:=`) in a configuration file. An unset or empty variable is its
 * default, or nothing. Only the form with braces counts: `$` stands in regular expressions too.
 *
 * What a reader would get wrong: the text with its variables has other columns, and with a value of several lines other
 * lines, than the file that a person edits. Messages must name those of the file.
 */
const REFERENCE = /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::[-=]?([^}]*))?\}/g;

export type Environment = Readonly<Record<string, string | undefined>>;

export interface ExpandedText {
  readonly text: string;
  /** Where in the file a place of the text comes from, both as offsets; within a variable: its beginning. */
  sourceOffset(offset: number): number;
}

export function expandEnvironment(text: string, environment: Environment): string {
  return expandWithPlaces(text, environment).text;
}

export function expandWithPlaces(source: string, environment: Environment): ExpandedText {
  /** Of each variable: where its value begins and ends, and where in the file it stands. */
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
