/**
 * Reads and prints the configuration: one YAML file with the reference's names, so that an existing file works. What
 * Logboom does not know in a section of the reference is accepted with one warning; in its own section it is an error.
 * A wrong value is an error that names its path and what is allowed; all of them are told at once.
 */
import { parse as parseYaml } from 'yaml';
import { messageOf } from '../model/errors.ts';
import type { Limits } from '../model/limits.ts';
import { expandEnvironment } from './config-environment.ts';
import {
  AUTH_FIELDS,
  type Config,
  DEFAULT_CONFIG,
  LIMIT_FIELDS,
  OLDER_RUNTIME_FIELDS,
  SECTIONS,
} from './config-fields.ts';
import type { Field } from './config-kinds.ts';

/** The message is ready to be shown: one line for each problem. */
export class ConfigError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ConfigError';
  }
}

export interface ConfigSource {
  /** For messages: the path of the file. */
  readonly name: string;
  /** For `${VAR}` and `${VAR:default}`. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

export interface ParsedConfig {
  readonly config: Config;
  /** Ready to be logged; empty or one line. */
  readonly warnings: readonly string[];
}

/** The configuration that a file's text describes, over the defaults. Throws ConfigError. */
export function parseConfig(text: string, source: ConfigSource): ParsedConfig {
  const reader: Reader = { problems: [], unknown: [] };
  const file = asMap(readYaml(text, source), '', reader);
  const auth = readFields(AUTH_FIELDS, DEFAULT_CONFIG.auth, file, '', reader);
  const older = asMap(file.limits_config, 'limits_config', { problems: [], unknown: [] });
  const runtime: Config['runtime'] = {
    ...DEFAULT_CONFIG.runtime,
    ...readFields<OlderRuntime>(OLDER_RUNTIME_FIELDS, DEFAULT_CONFIG.runtime, older, 'limits_config', reader),
  };
  const defaults: Config = { ...DEFAULT_CONFIG, runtime };
  const sections: Record<string, unknown> = {};
  const known = new Set<string>(names(AUTH_FIELDS));
  for (const [name, { key, fields }] of Object.entries(SECTIONS)) {
    known.add(name);
    const section = asMap(file[name], name, reader);
    sections[key] = readFields(fields as AnyFields, defaults[key] as object, section, name, reader);
    const allowed =
      name === 'limits_config' ? [...names(fields), ...names(OLDER_RUNTIME_FIELDS)] : names(fields);
    const strange = Object.keys(section).filter(key => !allowed.includes(key));
    if (name === 'logboom') refuseUnknown(strange, allowed, reader);
    else reader.unknown.push(...strange.map(key => `${name}.${key}`));
  }
  reader.unknown.push(...Object.keys(file).filter(key => !known.has(key)));
  if (reader.problems.length > 0) {
    throw new ConfigError(reader.problems.map(problem => `${source.name}: ${problem}`).join('\n'));
  }
  const warnings =
    reader.unknown.length === 0
      ? []
      : [`${source.name}: these keys have no effect in Logboom: ${reader.unknown.join(', ')}`];
  return { config: { ...(sections as unknown as Config), auth }, warnings };
}

/** Largest push after decompression, bytes. */
export function maxDecompressedBytes(config: Config): number {
  const { maxDecompressedSize, maxRecvMsgSize } = config.distributor;
  return maxDecompressedSize > 0 ? maxDecompressedSize : 50 * maxRecvMsgSize;
}

export type FormatMode = 'full' | 'diff' | 'defaults';

/** The configuration as a tree with the file's names and texts: `diff` keeps what differs from the defaults. */
export function formatConfig(config: Config, { mode }: { mode: FormatMode }): Record<string, unknown> {
  const shown = mode === 'defaults' ? DEFAULT_CONFIG : config;
  const out = formatFields(AUTH_FIELDS as AnyFields, shown.auth, DEFAULT_CONFIG.auth, mode === 'diff');
  for (const [name, { key, fields }] of Object.entries(SECTIONS)) {
    const section = formatFields(fields as AnyFields, shown[key], DEFAULT_CONFIG[key], mode === 'diff');
    if (Object.keys(section).length > 0) out[name] = section;
  }
  return out;
}

/** Limits with the file's names and texts. */
export function formatLimits(limits: Limits): Record<string, unknown> {
  return formatFields(LIMIT_FIELDS as AnyFields, limits, limits, false);
}

type OlderRuntime = Pick<Config['runtime'], 'files' | 'periodMs'>;
export type AnyFields = Readonly<Record<string, Field<unknown>>>;

/** Collects what is wrong and what is not known while a file is read. */
export interface Reader {
  readonly problems: string[];
  readonly unknown: string[];
}

function readYaml(text: string, source: ConfigSource): unknown {
  try {
    return parseYaml(expandEnvironment(text, source.environment));
  } catch (error) {
    throw new ConfigError(`${source.name}: ${messageOf(error)}`);
  }
}

/** An absent or empty section is an empty one. */
export function asMap(value: unknown, path: string, reader: Reader): Record<string, unknown> {
  if (value === null || value === undefined) return {};
  if (typeof value === 'object' && !Array.isArray(value)) return value as Record<string, unknown>;
  reader.problems.push(`${path || 'the file'}: expected names with values, got ${JSON.stringify(value)}`);
  return {};
}

/** The fields of a section over their defaults; what is wrong goes to the reader's problems. */
export function readFields<T extends object>(
  fields: { readonly [K in keyof T]-?: Field<T[K]> },
  defaults: T,
  section: Record<string, unknown>,
  path: string,
  reader: Reader,
): T {
  const out: Record<string, unknown> = { ...(defaults as Record<string, unknown>) };
  for (const [key, { name, kind }] of Object.entries(fields as AnyFields)) {
    if (!Object.hasOwn(section, name)) continue;
    const read = kind.schema.safeParse(section[name]);
    if (read.success) out[key] = read.data;
    else {
      const place = path === '' ? name : `${path}.${name}`;
      reader.problems.push(`${place}: expected ${kind.expected}, got ${JSON.stringify(section[name])}`);
    }
  }
  return out as T;
}

function refuseUnknown(strange: readonly string[], allowed: readonly string[], reader: Reader): void {
  for (const key of strange) {
    reader.problems.push(`logboom.${key}: there is no such value; allowed are ${allowed.join(', ')}`);
  }
}

export function names(fields: object): string[] {
  return Object.values(fields as AnyFields).map(field => field.name);
}

function formatFields(
  fields: AnyFields,
  shown: object,
  defaults: object,
  onlyChanged: boolean,
): Record<string, unknown> {
  const out: Record<string, unknown> = {};
  for (const [key, { name, kind }] of Object.entries(fields)) {
    const value = kind.format((shown as Record<string, unknown>)[key]);
    const initial = kind.format((defaults as Record<string, unknown>)[key]);
    if (!onlyChanged || JSON.stringify(value) !== JSON.stringify(initial)) out[name] = value;
  }
  return out;
}
