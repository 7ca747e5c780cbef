/**
 * Reads sections of a configuration and collects what is wrong with them and what is not known, each with its path, so
 * that all of it is told at once with the places in the file.
 *
 * What a reader would get wrong: a value of a secret kind is never quoted, whatever is wrong with it.
 */
import type * as z from 'zod';
import { ConfigError } from './config-error.ts';
import type { Field } from './config-kinds.ts';
import type { ConfigPath, ConfigText, Place } from './config-text.ts';
import { nearestName } from './nearest-name.ts';

/** More are counted: whoever has so many has one mistake in common to all, or the wrong file. */
export const MAX_TOLD_PROBLEMS = 20;
/** Unknown names that one warning tells; further ones are counted. */
export const MAX_TOLD_UNKNOWN = 20;
/** A wrong value is quoted so far. */
const MAX_QUOTED_CHARACTERS = 200;
/** What zod says where nobody gave a reason. */
const UNTOLD_REASONS: ReadonlySet<string> = new Set(['Invalid input']);

export type AnyFields = Readonly<Record<string, Field<unknown>>>;

export interface Problem {
  readonly path: ConfigPath;
  /** Where in the value at `path` it is wrong. */
  readonly inner?: ConfigPath;
  readonly message: string;
}

/** A name that means nothing to us. */
export interface UnknownName {
  readonly path: ConfigPath;
  /** What it could have been. */
  readonly known: ReadonlySet<string>;
}

/** Collects what is wrong and what is not known while a file is read. */
export interface Reader {
  readonly problems: Problem[];
  readonly unknown: UnknownName[];
}

export function newReader(): Reader {
  return { problems: [], unknown: [] };
}

/** An absent or empty section is an empty one. */
export function asMap(value: unknown, path: ConfigPath, reader: Reader): Record<string, unknown> {
  if (value === null || value === undefined) return {};
  if (typeof value === 'object' && !Array.isArray(value)) return value as Record<string, unknown>;
  reader.problems.push({ path, message: `expected names with values, got ${quoted(value)}` });
  return {};
}

/** The fields of a section over their defaults; what is wrong goes to the reader's problems. */
export function readFields<T extends object>(
  fields: { readonly [K in keyof T]-?: Field<T[K]> },
  defaults: T,
  section: Record<string, unknown>,
  path: ConfigPath,
  reader: Reader,
): T {
  const out: Record<string, unknown> = { ...(defaults as Record<string, unknown>) };
  for (const [key, { name, kind }] of Object.entries(fields as AnyFields)) {
    if (!Object.hasOwn(section, name)) continue;
    const read = kind.schema().safeParse(section[name]);
    if (read.success) out[key] = read.data;
    else reader.problems.push(...problemsOf([...path, name], kind, section[name], read.error));
  }
  return out as T;
}

/** Names of a section that are none of the known ones. */
export function unknownNames(
  section: Record<string, unknown>,
  known: ReadonlySet<string>,
  path: ConfigPath,
): UnknownName[] {
  return Object.keys(section)
    .filter(name => !known.has(name))
    .map(name => ({ path: [...path, name], known }));
}

/** The known name that looks most like the unknown one, or undefined. */
export function meantBy({ path, known }: UnknownName): string | undefined {
  return nearestName(String(path.at(-1)), [...known]);
}

export function names(fields: object): string[] {
  return Object.values(fields as AnyFields).map(field => field.name);
}

/** Throws ConfigError where the reader found problems. Of several texts the one that says it is named, a later first. */
export function throwProblems(texts: readonly ConfigText[], { problems }: Reader): void {
  if (problems.length === 0) return;
  const told = problems.slice(0, MAX_TOLD_PROBLEMS).map(problem => problemLine(texts, problem));
  const more = problems.length - told.length;
  if (more > 0) told.push(`${more} more problems`);
  throw new ConfigError(told.join('\n'));
}

function problemLine(texts: readonly ConfigText[], { path, inner = [], message }: Problem): string {
  const { text, place } = placeIn(texts, [...path, ...inner]);
  return `${text.name}:${place.line}:${place.column}: ${pathText(path) || 'the file'}: ${message}`;
}

/** `a.b (line 3; do you mean c?), d.e (line 5); and 7 more`, in the order of the file where there is one. */
export function tellUnknown(texts: readonly ConfigText[], unknown: readonly UnknownName[]): string {
  const isOne = texts.length === 1;
  const told = unknown.slice(0, MAX_TOLD_UNKNOWN).map(one => {
    const { path } = one;
    const { text, place } = placeIn(texts, path);
    const where = isOne ? `line ${place.line}` : `${text.name}, line ${place.line}`;
    const nearest = meantBy(one);
    const meant = nearest === undefined ? '' : `; do you mean ${nearest}?`;
    return { place, text: `${pathText(path)} (${where}${meant})` };
  });
  if (isOne) told.sort((a, b) => a.place.line - b.place.line);
  const shown = told.map(({ text }) => text).join(', ');
  const more = unknown.length - told.length;
  return more > 0 ? `${shown}; and ${more} more` : shown;
}

export function pathText(path: ConfigPath): string {
  return path.join('.');
}

function placeIn(texts: readonly ConfigText[], path: ConfigPath): { text: ConfigText; place: Place } {
  let best: { text: ConfigText; place: Place } | undefined;
  for (const text of texts.toReversed()) {
    const place = text.placeOf(path);
    if (best === undefined || place.depth > best.place.depth) best = { text, place };
  }
  if (best === undefined) throw new TypeError('a problem of no text');
  return best;
}

/** One for each thing that is wrong with a value; something deep in it has a place of its own. */
function problemsOf(
  path: ConfigPath,
  { expected, secret = false }: Field<unknown>['kind'],
  value: unknown,
  { issues }: z.ZodError,
): Problem[] {
  return issues.map(({ path: keys, message, code }) => {
    const inner = keys.map(key => (typeof key === 'symbol' ? String(key) : key));
    const got = secret ? '' : `, got ${quoted(valueIn(value, inner))}`;
    const place = inner.length === 0 ? '' : ` at ${pathText(inner)}`;
    const isTold = (inner.length > 0 || code === 'unrecognized_keys') && !UNTOLD_REASONS.has(message);
    const why = isTold ? ` (${message})` : '';
    return { path, inner, message: `expected ${expected}${got}${place}${why}` };
  });
}

function valueIn(value: unknown, path: ConfigPath): unknown {
  return path.reduce<unknown>((at, name) => (at as Record<string, unknown> | undefined)?.[name], value);
}

function quoted(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length <= MAX_QUOTED_CHARACTERS ? text : `${text.slice(0, MAX_QUOTED_CHARACTERS)}...`;
}
