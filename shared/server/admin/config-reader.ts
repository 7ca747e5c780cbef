/**
 * Reads sections of a configuration. Collects problems and unknown names with their paths, so that all of
 * them are reported at once with their positions in the file.
 *
 * Pitfall: a value of a secret kind must never be quoted in a message.
 */
import type * as z from 'zod';
import { ConfigError } from './config-error.ts';
import type { ConfigField } from './config-kinds.ts';
import type { ConfigPath, ConfigText, TextPosition } from './config-text.ts';
import { nearestName } from './nearest-name.ts';

/**
 * Reported problems. Further ones are only counted: many problems usually have one cause, such as a wrong
 * file.
 */
export const MAX_LISTED_PROBLEMS = 20;
/** Unknown names in one warning. Further ones are only counted. */
export const MAX_LISTED_UNKNOWN = 20;
/** Maximum quoted length of an invalid value. */
const MAX_QUOTED_CHARACTERS = 200;
/** Messages of zod without a specific reason. */
const GENERIC_REASONS: ReadonlySet<string> = new Set(['Invalid input']);

export type AnyFields = Readonly<Record<string, ConfigField<unknown>>>;

interface ConfigProblem {
  readonly path: ConfigPath;
  /** Position of the problem inside the value at `path`. */
  readonly inner?: ConfigPath;
  readonly message: string;
}

/** A name that Logboom does not know. */
interface UnknownName {
  readonly path: ConfigPath;
  /** Names that are valid instead of it. */
  readonly known: ReadonlySet<string>;
}

/** Collects problems and unknown names while a file is read. */
export interface ConfigReader {
  readonly problems: ConfigProblem[];
  readonly unknown: UnknownName[];
}

export function newReader(): ConfigReader {
  return { problems: [], unknown: [] };
}

/** Treats an absent section as an empty one. */
export function asMap(value: unknown, path: ConfigPath, reader: ConfigReader): Record<string, unknown> {
  if (value === null || value === undefined) return {};
  if (typeof value === 'object' && !Array.isArray(value)) return value as Record<string, unknown>;
  reader.problems.push({ path, message: `expected a map, got ${quoted(value)}` });
  return {};
}

/** Reads the fields of a section over their defaults. Adds problems to the reader. */
export function readConfigFields<T extends object>(
  fields: { readonly [K in keyof T]-?: ConfigField<T[K]> },
  defaults: T,
  section: Record<string, unknown>,
  path: ConfigPath,
  reader: ConfigReader,
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

/** Names of a section that are not in `known`. */
export function unknownNames(
  section: Record<string, unknown>,
  known: ReadonlySet<string>,
  path: ConfigPath,
): UnknownName[] {
  return Object.keys(section)
    .filter(name => !known.has(name))
    .map(name => ({ path: [...path, name], known }));
}

/** Known name that is most similar to the unknown one; `undefined` if none is similar. */
export function suggestionFor({ path, known }: UnknownName): string | undefined {
  return nearestName(String(path.at(-1)), [...known]);
}

export function names(fields: object): string[] {
  return Object.values(fields as AnyFields).map(field => field.name);
}

/**
 * Throws ConfigError if the reader found problems. Names the text that contains the value, the last one of
 * several.
 */
export function throwProblems(texts: readonly ConfigText[], { problems }: ConfigReader): void {
  if (problems.length === 0) return;
  const listed = problems.slice(0, MAX_LISTED_PROBLEMS).map(problem => problemLine(texts, problem));
  const more = problems.length - listed.length;
  if (more > 0) listed.push(`${more} more problems`);
  throw new ConfigError(listed.join('\n'));
}

function problemLine(texts: readonly ConfigText[], { path, inner = [], message }: ConfigProblem): string {
  const { text, position } = positionIn(texts, [...path, ...inner]);
  return `${text.name}:${position.line}:${position.column}: ${pathText(path) || 'the file'}: ${message}`;
}

/**
 * Formats `a.b (line 3; do you mean c?), d.e (line 5); and 7 more`, in the order of the file if there is only
 * one.
 */
export function listUnknown(texts: readonly ConfigText[], unknown: readonly UnknownName[]): string {
  const isOne = texts.length === 1;
  const listed = unknown.slice(0, MAX_LISTED_UNKNOWN).map(one => {
    const { path } = one;
    const { text, position } = positionIn(texts, path);
    const where = isOne ? `line ${position.line}` : `${text.name}, line ${position.line}`;
    const nearest = suggestionFor(one);
    const suggestion = nearest === undefined ? '' : `; do you mean ${nearest}?`;
    return { position, text: `${pathText(path)} (${where}${suggestion})` };
  });
  if (isOne) listed.sort((a, b) => a.position.line - b.position.line);
  const shown = listed.map(({ text }) => text).join(', ');
  const more = unknown.length - listed.length;
  return more > 0 ? `${shown}; and ${more} more` : shown;
}

function pathText(path: ConfigPath): string {
  return path.join('.');
}

function positionIn(
  texts: readonly ConfigText[],
  path: ConfigPath,
): { text: ConfigText; position: TextPosition } {
  let best: { text: ConfigText; position: TextPosition } | undefined;
  for (const text of texts.toReversed()) {
    const position = text.positionOf(path);
    if (best === undefined || position.depth > best.position.depth) best = { text, position };
  }
  if (best === undefined) throw new TypeError('a problem needs a text');
  return best;
}

/** Returns one problem per issue. An issue deep inside the value has its own position. */
function problemsOf(
  path: ConfigPath,
  { expected, secret = false }: ConfigField<unknown>['kind'],
  value: unknown,
  { issues }: z.ZodError,
): ConfigProblem[] {
  return issues.map(({ path: keys, message, code }) => {
    const inner = keys.map(key => (typeof key === 'symbol' ? String(key) : key));
    const got = secret ? '' : `, got ${quoted(valueIn(value, inner))}`;
    const within = inner.length === 0 ? '' : ` at ${pathText(inner)}`;
    const isSpecific = (inner.length > 0 || code === 'unrecognized_keys') && !GENERIC_REASONS.has(message);
    const why = isSpecific ? ` (${message})` : '';
    return { path, inner, message: `expected ${expected}${got}${within}${why}` };
  });
}

function valueIn(value: unknown, path: ConfigPath): unknown {
  return path.reduce<unknown>((at, name) => (at as Record<string, unknown> | undefined)?.[name], value);
}

function quoted(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length <= MAX_QUOTED_CHARACTERS ? text : `${text.slice(0, MAX_QUOTED_CHARACTERS)}...`;
}
