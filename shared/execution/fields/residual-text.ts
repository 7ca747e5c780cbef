/**
 * A line that says what another line says by itself, and no more: `{"status":"200"}` for the part of a line of JSON that has
 * no column, `err="no route"` for that of logfmt. Parsers make of it what they would have made of those fields: the same
 * names, texts and paths, whatever stream the line is of. Rests (rests.ts) are such texts, and lines are put together of
 * columns and rests again as such texts (synthesized-lines.ts).
 *
 * Most lines have their own time in them, which would make each rest another. So where a value holds the time of day of its
 * entry, a rest has a mark and the number of digits in its place: `{"ts":"2026-11-21T<mark>3Z"}`. The date may stand there, for
 * a page is of one day.
 */
import { NS_OF_SECOND } from '../../base/model/duration.ts';
import type { ParserName } from '../../base/model/page-fields.ts';

/** What stands around the value of a member, quotes aside. */
export interface MemberForm {
  readonly before: string;
  readonly after: string;
}

/** @param path of JSON from the top of the object down, of logfmt the key alone */
export function memberForm(parser: ParserName, path: readonly string[]): MemberForm {
  if (parser === 'logfmt') return { before: `${path[0]}=`, after: '' };
  const keys = path.map(key => JSON.stringify(key));
  return { before: `${keys.join(':{')}:`, after: '}'.repeat(keys.length - 1) };
}

export function memberText({ before, after }: MemberForm, value: string): string {
  return before + JSON.stringify(value) + after;
}

/** What stands between two members of a line. */
export function separatorOf(parser: ParserName): string {
  return parser === 'json' ? ',' : ' ';
}

/** The members, joined, as one line. */
export function lineOfMembers(parser: ParserName, members: string): string {
  return parser === 'json' ? `{${members}}` : members;
}

/** The parser that reads a rest; undefined where it has no members. */
export function parserOfRest(rest: string): ParserName | undefined {
  if (rest === '') return undefined;
  return rest[0] === '{' ? 'json' : 'logfmt';
}

/** The members of a rest, as they went into `lineOfMembers`. */
export function membersOfRest(rest: string): string {
  return rest[0] === '{' ? rest.slice(1, -1) : rest;
}

/** No other byte below 0x20 stands in a rest: quoting escapes them, and keys have none. */
const MARK = '\u0001';
const TIME_OF_DAY = /[0-9]{2}:[0-9]{2}:[0-9]{2}(?:([.,])([0-9]{1,9}))?/;
/** Behind the mark, by digits behind the separator: of a dot, and of a comma. */
const DOT_DIGITS = '0123456789';
const COMMA_DIGITS = 'abcdefghij';

/** The text with a mark where it holds the time of day `ns`, as it is where it does not. @param text of one member */
export function markTime(text: string, ns: number): string {
  const found = TIME_OF_DAY.exec(text);
  if (found === null) return text;
  const [written, separator, fraction = ''] = found;
  const digits = fraction.length;
  if (written !== timeOfDay(ns, digits, separator ?? '.')) return text;
  const kind = (separator === ',' ? COMMA_DIGITS : DOT_DIGITS)[digits];
  return text.slice(0, found.index) + MARK + kind + text.slice(found.index + written.length);
}

/** A rest for reading: its text around the mark, and what the mark says. */
export interface RestForm {
  readonly before: string;
  /** The time of day stands between the two, behind a dot or a comma so many digits of it; undefined where no mark is. */
  readonly time: { readonly digits: number; readonly separator: string } | undefined;
  readonly after: string;
}

/** A mark that is none is left standing. */
export function formOfRest(text: string): RestForm {
  const at = text.indexOf(MARK);
  const kind = at < 0 ? '' : text.charAt(at + 1);
  const digits = Math.max(DOT_DIGITS.indexOf(kind), COMMA_DIGITS.indexOf(kind));
  if (kind === '' || digits < 0) return { before: text, time: undefined, after: '' };
  const separator = kind >= 'a' ? ',' : '.';
  return { before: text.slice(0, at), time: { digits, separator }, after: text.slice(at + 2) };
}

/** What `markTime` was given. */
export function textOfRest({ before, time, after }: RestForm, ns: number): string {
  return time === undefined ? before : before + timeOfDay(ns, time.digits, time.separator) + after;
}

/** As `15:04:05.000`, cut behind so many digits. @param ns since the start of the day */
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
