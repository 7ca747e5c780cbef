/**
 * Limits of individual tenants, in the format of the reference's runtime configuration:
 *
 *     overrides:
 *       acme:
 *         ingestion_rate_mb: 20
 *         max_query_series: 2000
 *
 * A tenant's limits are the defaults of `limits_config` with these keys replaced. A file of the reference
 * works unchanged: unknown keys are listed in one warning and have no effect. An invalid value refuses the
 * whole file.
 *
 * Pitfall: with several files, a later one replaces individual keys of a tenant, not the tenant.
 */
import type { Limits } from '../../base/model/limits.ts';
import { ConfigError } from './config-error.ts';
import { LIMIT_FIELDS } from './config-fields.ts';
import {
  asMap,
  type ConfigReader,
  listUnknown,
  names,
  newReader,
  readConfigFields,
  throwProblems,
  unknownNames,
} from './config-reader.ts';
import { type ConfigText, readConfigText } from './config-text.ts';

/** Much larger than real files. A larger one is a mistake that would use memory in each process. */
export const MAX_OVERRIDES_BYTES = 16 * 1024 * 1024;
/** Each tenant's limits are a separate object of about 1 KB: 100 MB. */
export const MAX_OVERRIDDEN_TENANTS = 100_000;

/** One file or object with overrides. */
export interface OverridesText {
  /** Name for messages: path or key. */
  readonly name: string;
  readonly text: string;
}

interface Overrides {
  /** Limits by tenant, only for tenants with overrides. */
  readonly limits: ReadonlyMap<string, Limits>;
  /** Warnings to log. */
  readonly warnings: readonly string[];
}

type Tree = Record<string, unknown>;

/** Parses overrides over the given defaults. Throws ConfigError with all problems and their positions. */
export function parseOverrides(texts: readonly OverridesText[], defaults: Limits): Overrides {
  const read = texts.map(readText);
  const reader = newReader();
  const byTenant = new Map<string, Tree>();
  const wrong: string[] = [];
  for (const text of read) {
    const own = newReader();
    for (const [tenant, values] of tenantsOf(text, own)) {
      byTenant.set(tenant, mergeTrees(byTenant.get(tenant) ?? {}, values));
    }
    reader.unknown.push(...own.unknown);
    wrong.push(...messagesOf(() => throwProblems([text], own)));
  }
  if (byTenant.size > MAX_OVERRIDDEN_TENANTS) {
    wrong.push(`overrides of ${byTenant.size} tenants, limit: ${MAX_OVERRIDDEN_TENANTS}`);
  }
  if (wrong.length > 0) throw new ConfigError(wrong.join('\n'));
  const limits = limitsOf(byTenant, defaults, reader);
  throwProblems(read, reader);
  return { limits, warnings: warningOf(read, reader) };
}

function readText({ name, text }: OverridesText): ConfigText {
  if (Buffer.byteLength(text) > MAX_OVERRIDES_BYTES) {
    throw new ConfigError(`${name}: larger than ${MAX_OVERRIDES_BYTES} bytes`);
  }
  return readConfigText(text, { name, environment: undefined, overrides: true });
}

function messagesOf(check: () => void): string[] {
  try {
    check();
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return [error.message];
  }
}

const TOP_NAMES: ReadonlySet<string> = new Set(['overrides']);

/** Values of each tenant in a text. Adds other top-level keys to the reader's unknown names. */
function tenantsOf({ value }: ConfigText, reader: ConfigReader): [string, Tree][] {
  const top = asMap(value, [], reader);
  reader.unknown.push(...unknownNames(top, TOP_NAMES, []));
  const tenants = asMap(top.overrides, ['overrides'], reader);
  return Object.entries(tenants).map(([tenant, values]) => [
    tenant,
    asMap(values, ['overrides', tenant], reader),
  ]);
}

function limitsOf(
  byTenant: ReadonlyMap<string, Tree>,
  defaults: Limits,
  reader: ConfigReader,
): ReadonlyMap<string, Limits> {
  const known = new Set(names(LIMIT_FIELDS));
  const limits = new Map<string, Limits>();
  for (const [tenant, values] of byTenant) {
    const path = ['overrides', tenant];
    // A key without a value has no effect.
    const given = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null));
    limits.set(tenant, Object.freeze(readConfigFields(LIMIT_FIELDS, defaults, given, path, reader)));
    reader.unknown.push(...unknownNames(values, known, path));
  }
  return limits;
}

function warningOf(texts: readonly ConfigText[], { unknown }: ConfigReader): string[] {
  if (unknown.length === 0) return [];
  return [`these keys of the overrides have no effect in Logboom: ${listUnknown(texts, unknown)}`];
}

/** Merges maps key by key, and replaces everything else. */
function mergeTrees(into: Tree, values: Tree): Tree {
  const out: Tree = { ...into };
  for (const [key, value] of Object.entries(values)) {
    const before = Object.hasOwn(out, key) ? out[key] : undefined;
    out[key] = isTree(before) && isTree(value) ? mergeTrees(before, value) : value;
  }
  return out;
}

function isTree(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
