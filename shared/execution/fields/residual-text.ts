/**
 * Residual text: a line that contains only some fields of another line. Examples are `{"status":"200"}` for
 * the part of a JSON line without columns, and `err="no route"` for logfmt. Parsers derive from it the same
 * names, texts and paths as from those fields in the original line, for any stream. residuals.ts writes such
 * texts. synthesized-lines.ts builds such lines from columns and residual fields.
 *
 * Most lines contain their own time, which would make all residual texts different. If a value contains the
 * time of day of its entry, the text contains a mark and the number of digits instead:
 * `{"ts":"2026-11-21T<mark>3Z"}`. The date may remain, because a page covers one day.
 */
import type { ParserName } from '../../base/model/page-fields.ts';
import { NS_OF_SECOND } from '../../base/model/time-units.ts';

/** Text around the value of a member, without quotes. */
export interface MemberForm {
  readonly before: string;
  readonly after: string;
}

/** @param path For JSON, keys from the top of the object down; for logfmt, only the key */
export function memberForm(parser: ParserName, path: readonly string[]): MemberForm {
  if (parser === 'logfmt') return { before: `${path[0]}=`, after: '' };
  const keys = path.map(key => JSON.stringify(key));
  return { before: `${keys.join(':{')}:`, after: '}'.repeat(keys.length - 1) };
}

export function memberText({ before, after }: MemberForm, value: string): string {
  return before + JSON.stringify(value) + after;
}

/** Returns the text between two members of a line. */
export function separatorOf(parser: ParserName): string {
  return parser === 'json' ? ',' : ' ';
}

/** Returns a line of the joined members. */
export function lineOfMembers(parser: ParserName, members: string): string {
  return parser === 'json' ? `{${members}}` : members;
}

/** Returns the parser of a residual text, or undefined if it has no members. */
export function parserOfResidual(residual: string): ParserName | undefined {
  if (residual === '') return undefined;
  return residual[0] === '{' ? 'json' : 'logfmt';
}

/** Returns the members of a residual text, as passed to `lineOfMembers`. */
export function membersOfResidual(residual: string): string {
  return residual[0] === '{' ? residual.slice(1, -1) : residual;
}

/** The only byte below 0x20 in a residual text: quoting escapes such bytes, and keys contain none. */
const MARK = '\u0001';
const TIME_OF_DAY = /[0-9]{2}:[0-9]{2}:[0-9]{2}(?:([.,])([0-9]{1,9}))?/;
/** Characters after the mark, by number of fractional digits: after a dot, and after a comma. */
const DOT_DIGITS = '0123456789';
const COMMA_DIGITS = 'abcdefghij';

/**
 * Replaces the time of day `ns` in a text by a mark; returns other texts unchanged.
 * @param text Text of one member
 */
export function markTime(text: string, ns: number): string {
  const found = TIME_OF_DAY.exec(text);
  if (found === null) return text;
  const [written, separator, fraction = ''] = found;
  const digits = fraction.length;
  if (written !== timeOfDay(ns, digits, separator ?? '.')) return text;
  const kind = (separator === ',' ? COMMA_DIGITS : DOT_DIGITS)[digits];
  return text.slice(0, found.index) + MARK + kind + text.slice(found.index + written.length);
}

/** Decoded residual text: the text around the mark, and the content of the mark. */
export interface ResidualForm {
  readonly before: string;
  /**
   * Time of day between the two parts, with this many digits after a dot or a comma; undefined without a
   * mark.
   */
  readonly time: { readonly digits: number; readonly separator: string } | undefined;
  readonly after: string;
}

/** Decodes a residual text; an invalid mark remains as text. */
export function formOfResidual(text: string): ResidualForm {
  const at = text.indexOf(MARK);
  const kind = at < 0 ? '' : text.charAt(at + 1);
  const digits = Math.max(DOT_DIGITS.indexOf(kind), COMMA_DIGITS.indexOf(kind));
  if (kind === '' || digits < 0) return { before: text, time: undefined, after: '' };
  const separator = kind >= 'a' ? ',' : '.';
  return { before: text.slice(0, at), time: { digits, separator }, after: text.slice(at + 2) };
}

/** Returns the text that was passed to `markTime`. */
export function textOfResidual({ before, time, after }: ResidualForm, ns: number): string {
  return time === undefined ? before : before + timeOfDay(ns, time.digits, time.separator) + after;
}

/**
 * Formats `15:04:05.000`, truncated to this many digits.
 * @param ns Time since the start of the day
 */
function timeOfDay(ns: number, digits: number, separator: string): string {
  const seconds = Math.floor(ns / NS_OF_SECOND);
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  const text = `${TWO_DIGITS[hours]}:${TWO_DIGITS[minutes - hours * 60]}:${TWO_DIGITS[seconds - minutes * 60]}`;
  if (digits === 0) return text;
  const fraction = NS_OF_SECOND + (ns - seconds * NS_OF_SECOND);
  return text + separator + String(fraction).slice(1, 1 + digits);
}

const TWO_DIGITS = Array.from({ length: 60 }, (_, i) => String(i).padStart(2, '0'));
