/**
 * Limits of single tenants, in the format of the reference's runtime configuration:
 *
 *     overrides:
 *       acme:
 *         ingestion_rate_mb: 20
 *         max_query_series: 2000
 *
 * A tenant's limits are the defaults of `limits_config` with these keys replaced. A file of the reference works as it
 * is: keys that Logboom does not know are named in one warning and have no effect. A wrong value refuses the whole.
 *
 * What a reader would get wrong: of several files a later one replaces single keys of a tenant, not the tenant.
 */
import type { Limits } from '../../base/model/limits.ts';
import { ConfigError } from './config-error.ts';
import { LIMIT_FIELDS } from './config-fields.ts';
import {
  asMap,
  names,
  newReader,
  type Reader,
  readFields,
  tellUnknown,
  throwProblems,
  unknownNames,
} from './config-reader.ts';
import { type ConfigText, readConfigText } from './config-text.ts';

/** Far over any real file; a larger one is a mistake that would cost memory in each process. */
export const MAX_OVERRIDES_BYTES = 16 * 1024 * 1024;
/** Each tenant's limits are an object of its own, about 1 KB: 100 MB. */
export const MAX_OVERRIDDEN_TENANTS = 100_000;

/** One file or object with overrides. */
export interface OverridesText {
  /** For messages: path or key. */
  readonly name: string;
  readonly text: string;
}

export interface Overrides {
  /** By tenant; those without are not there. */
  readonly limits: ReadonlyMap<string, Limits>;
  /** Ready to be logged. */
  readonly warnings: readonly string[];
}

type Tree = Record<string, unknown>;

/** Reads overrides over the given defaults. Throws ConfigError, which tells all problems at once, each with its place. */
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
    wrong.push(`overrides of ${byTenant.size} tenants, at most ${MAX_OVERRIDDEN_TENANTS} are possible`);
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

/** What a text says of each tenant; other keys at its top go to the reader's unknown ones. */
function tenantsOf({ value }: ConfigText, reader: Reader): [string, Tree][] {
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
  reader: Reader,
): ReadonlyMap<string, Limits> {
  const known = new Set(names(LIMIT_FIELDS));
  const limits = new Map<string, Limits>();
  for (const [tenant, values] of byTenant) {
    const path = ['overrides', tenant];
    // A key without a value says nothing.
    const given = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null));
    limits.set(tenant, Object.freeze(readFields(LIMIT_FIELDS, defaults, given, path, reader)));
    reader.unknown.push(...unknownNames(values, known, path));
  }
  return limits;
}

function warningOf(texts: readonly ConfigText[], { unknown }: Reader): string[] {
  if (unknown.length === 0) return [];
  return [`these keys of the overrides have no effect in Logboom: ${tellUnknown(texts, unknown)}`];
}

/** Maps are merged key by key, anything else is replaced. */
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
