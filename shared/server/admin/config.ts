/**
 * Reads and prints the configuration: one YAML file with the reference's names, so that an existing file
 * works. Unknown keys in a section of the reference are accepted with one warning. In Logboom's own sections
 * they are errors. An invalid value is an error that names its path and the allowed values. All errors are
 * reported at once.
 */
import type { Environment } from '../../base/model/environment.ts';
import type { Limits } from '../../base/model/limits.ts';
import {
  AUTH_FIELDS,
  type Config,
  DEFAULT_CONFIG,
  LIMIT_FIELDS,
  OLDER_RUNTIME_FIELDS,
  SECTIONS,
} from './config-fields.ts';
import {
  type AnyFields,
  asMap,
  type ConfigReader,
  listUnknown,
  names,
  newReader,
  readConfigFields,
  suggestionFor,
  throwProblems,
  unknownNames,
} from './config-reader.ts';
import { type ConfigText, readConfigText } from './config-text.ts';

export { ConfigError } from './config-error.ts';

interface ConfigSource {
  /** Name for messages: the path of the file. */
  readonly name: string;
  /** Values for `${VAR}` and `${VAR:default}`. */
  readonly environment: Environment;
}

interface ParsedConfig {
  readonly config: Config;
  /** Warnings to log: at most one line. */
  readonly warnings: readonly string[];
}

/** Sections that the reference does not have. An unknown key in them is an error. */
export const OWN_SECTIONS: ReadonlySet<string> = new Set(['auth', 'logboom']);

/** Configuration that a file's text describes, over the defaults. Throws ConfigError. */
export function parseConfig(text: string, { name, environment }: ConfigSource): ParsedConfig {
  const source = readConfigText(text, { name, environment, overrides: false });
  const reader = newReader();
  const file = asMap(source.value, [], reader);
  const auth = readConfigFields(AUTH_FIELDS, DEFAULT_CONFIG.auth, file, [], reader);
  const older = asMap(file.limits_config, ['limits_config'], newReader());
  const runtime: Config['runtime'] = {
    ...DEFAULT_CONFIG.runtime,
    ...readConfigFields<OlderRuntime>(
      OLDER_RUNTIME_FIELDS,
      DEFAULT_CONFIG.runtime,
      older,
      ['limits_config'],
      reader,
    ),
  };
  const defaults: Config = { ...DEFAULT_CONFIG, runtime };
  const sections: Record<string, unknown> = {};
  reader.unknown.push(...unknownNames(file, new Set([...names(AUTH_FIELDS), ...Object.keys(SECTIONS)]), []));
  for (const [name, { key, fields }] of Object.entries(SECTIONS)) {
    const section = asMap(file[name], [name], reader);
    sections[key] = readConfigFields(fields as AnyFields, defaults[key] as object, section, [name], reader);
    const known =
      name === 'limits_config' ? [...names(fields), ...names(OLDER_RUNTIME_FIELDS)] : names(fields);
    const strange = unknownNames(section, new Set(known), [name]);
    if (OWN_SECTIONS.has(name)) refuseUnknown(strange, known, reader);
    else reader.unknown.push(...strange);
  }
  throwProblems([source], reader);
  return { config: { ...(sections as unknown as Config), auth }, warnings: warningOf(source, reader) };
}

/** Maximum size of a decompressed push, bytes. */
export function maxDecompressedBytes(config: Config): number {
  const { maxDecompressedSize, maxRecvMsgSize } = config.distributor;
  return maxDecompressedSize > 0 ? maxDecompressedSize : 50 * maxRecvMsgSize;
}

export type FormatMode = 'full' | 'diff' | 'defaults';

/**
 * Configuration as a tree with the file's names and formats. `diff` keeps only differences to the defaults.
 */
export function formatConfig(config: Config, { mode }: { mode: FormatMode }): Record<string, unknown> {
  const shown = mode === 'defaults' ? DEFAULT_CONFIG : config;
  const out = formatFields(AUTH_FIELDS as AnyFields, shown.auth, DEFAULT_CONFIG.auth, mode === 'diff');
  for (const [name, { key, fields }] of Object.entries(SECTIONS)) {
    const section = formatFields(fields as AnyFields, shown[key], DEFAULT_CONFIG[key], mode === 'diff');
    if (Object.keys(section).length > 0) out[name] = section;
  }
  return out;
}

/** Limits with the file's names and formats. */
export function formatLimits(limits: Limits): Record<string, unknown> {
  return formatFields(LIMIT_FIELDS as AnyFields, limits, limits, false);
}

type OlderRuntime = Pick<Config['runtime'], 'files' | 'periodMs'>;

function refuseUnknown(
  strange: ConfigReader['unknown'],
  known: readonly string[],
  reader: ConfigReader,
): void {
  for (const one of strange) {
    const { path } = one;
    const nearest = suggestionFor(one);
    const suggestion = nearest === undefined ? '' : ` (do you mean ${nearest}?)`;
    const message = `unknown key${suggestion}; allowed are ${known.join(', ')}`;
    reader.problems.push({ path, message });
  }
}

function warningOf(source: ConfigText, { unknown }: ConfigReader): string[] {
  if (unknown.length === 0) return [];
  return [`${source.name}: these keys have no effect in Logboom: ${listUnknown([source], unknown)}`];
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
