/**
 * Finds where the lines of a template have the captures of a pattern, from its constant text and from what its values can be.
 *
 *     template   ◊ - - [◊] "◊" ◊ ◊ "◊"      pattern   <_> - - <_> "<method> <path> <_>" <status> <_>
 *     method, path   parts of the third value, which has two literals      status   the fourth value
 *
 * The search for literals is followed through the template. A value that no literal can touch belongs to the capture that is being
 * filled. A value that the next literal may touch is searched later, value by value: most have as many literals as the first one, and
 * the lines of others are read. There is no plan if a capture consists of several parts, or if a literal may be partly in a value.
 */
import type { CaptureWants } from '../../base/model/page-captures.ts';
import type { TemplateLayout } from './split-frame.ts';
import type { SplitValues } from './split-values.ts';

/** Values of a column, and the literals that are searched in them. */
export interface SearchedValue {
  readonly column: number;
  /** Literal that is searched first. */
  readonly first: number;
  /** Number of literals that are searched; 0 if none can be in a value. */
  readonly sought: number;
  /** Number of literals that each value must have, the first ones. */
  readonly found: number;
}

/** Where the lines of a template have a capture. */
export type CapturePlace =
  | { readonly kind: 'text'; readonly text: Buffer }
  /** Bytes of a value in front of literal `part` of those that it has, or behind the last one. */
  | { readonly kind: 'part'; readonly value: SearchedValue; readonly part: number };

export interface CapturePlan {
  /** Place of each capture of the wants; undefined if the lines do not have it. */
  readonly places: readonly (CapturePlace | undefined)[];
  /** All values that are searched. A line that has other literals in one of them is not as planned. */
  readonly searched: readonly SearchedValue[];
}

/** A capture that is longer than one value, or not known to be one. */
const MIXED = 'mixed';
type Begun = CapturePlace | typeof MIXED | undefined;

/**
 * Returns undefined if there is no plan.
 * @param valuesOf Returns the values of a column
 */
export function planCaptures(
  { lead, literals: all, captures }: CaptureWants,
  { texts, columns }: TemplateLayout,
  valuesOf: (column: number) => SplitValues,
): CapturePlan | undefined {
  const places = new Map<number, CapturePlace>();
  const searched: SearchedValue[] = [];
  const last = Math.max(...captures);
  const literals = all.slice(0, last + 1);
  /** Rest of the constant text from the position of the search on. */
  let text = Buffer.from(texts[0]);
  const compared = Math.min(lead.length, text.length);
  const hasLead = text.subarray(0, compared).equals(lead.subarray(0, compared));
  // An empty line has no captures.
  if (!hasLead || (text.length === 0 && columns.length === 0))
    return { places: captures.map(() => undefined), searched };
  if (compared < lead.length) return undefined;
  text = text.subarray(lead.length);
  /** Number of literals found, and of the capture that is being filled. */
  let found = 0;
  let begun: Begun;
  for (let i = 0; ; i++) {
    while (found < literals.length) {
      const hit = text.indexOf(literals[found]);
      if (hit < 0) break;
      if (!endCapture(places, captures, found, withText(begun, text.subarray(0, hit)))) return undefined;
      text = text.subarray(hit + literals[found].length);
      begun = undefined;
      found++;
    }
    begun = withText(begun, text);
    if (i === columns.length || found > last) break;
    const column = columns[i];
    const values = valuesOf(column);
    const next = Buffer.from(texts[i + 1]);
    const isEnd = i === columns.length - 1;
    const literal = literals.at(found);
    if (found === literals.length || !mayTouch(values, literal!, text))
      begun = begun === undefined ? wholeOf(column) : MIXED;
    else {
      if (mayBegin(values, literal!, text)) return undefined;
      const value = searchedOf(column, found, literals, values);
      if (value.sought > value.found && mayEnd(literals[found + value.found], next, isEnd)) return undefined;
      searched.push(value);
      for (let part = 0; part <= value.found; part++) {
        begun = begun === undefined ? { kind: 'part', value, part } : MIXED;
        if (part === value.found) break;
        if (!endCapture(places, captures, found + part, begun)) return undefined;
        begun = undefined;
      }
      found += value.found;
    }
    text = next;
  }
  // The rest of the line.
  if (found <= last && !endCapture(places, captures, found, begun)) return undefined;
  return { places: captures.map(capture => places.get(capture)), searched };
}

/** Notes the place of a capture. Returns false if it is needed and has none. */
function endCapture(
  places: Map<number, CapturePlace>,
  captures: readonly number[],
  capture: number,
  begun: Begun,
): boolean {
  if (!captures.includes(capture)) return true;
  if (begun === MIXED) return false;
  places.set(capture, begun ?? { kind: 'text', text: Buffer.alloc(0) });
  return true;
}

/** Returns what a capture is after some text. */
function withText(begun: Begun, text: Buffer): Begun {
  if (text.length === 0) return begun;
  return begun === undefined ? { kind: 'text', text } : MIXED;
}

function wholeOf(column: number): CapturePlace {
  return { kind: 'part', value: { column, first: 0, sought: 0, found: 0 }, part: 0 };
}

/** Expects of all values what the first one has. One more literal is searched, because a value must not have it. */
function searchedOf(
  column: number,
  first: number,
  literals: readonly Buffer[],
  values: SplitValues,
): SearchedValue {
  const bytes = Buffer.from(values.first);
  let at = 0;
  let literal = first;
  for (; literal < literals.length; literal++) {
    const hit = bytes.indexOf(literals[literal], at);
    if (hit < 0) break;
    at = hit + literals[literal].length;
  }
  const found = literal - first;
  return { column, first, sought: Math.min(found + 1, literals.length - first), found };
}

/** Whether a literal may begin in a value, or in the text before it and end in or after it. */
function mayTouch(values: SplitValues, literal: Buffer, before: Buffer): boolean {
  return values.mayHold(literal[0]) || mayBegin(values, literal, before);
}

/** Whether a literal may begin in the text before a value, and end in or after the value. */
function mayBegin(values: SplitValues, literal: Buffer, before: Buffer): boolean {
  for (let length = 1; length < literal.length && length <= before.length; length++) {
    if (!before.subarray(before.length - length).equals(literal.subarray(0, length))) continue;
    if (values.mayBeEmpty || values.mayHold(literal[length])) return true;
  }
  return false;
}

/** Whether a literal that begins in a value may end after it. */
function mayEnd(literal: Buffer, next: Buffer, isEnd: boolean): boolean {
  for (let length = 1; length < literal.length; length++) {
    const rest = literal.subarray(length);
    if (
      rest.length > next.length
        ? !isEnd && rest.subarray(0, next.length).equals(next)
        : next.subarray(0, rest.length).equals(rest)
    )
      return true;
  }
  return false;
}
