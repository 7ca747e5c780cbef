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
import { type Document, isScalar, parseDocument, visit } from 'yaml';
import { messageOf } from '../model/errors.ts';
import type { Limits } from '../model/limits.ts';
import { asMap, ConfigError, names, type Reader, readFields } from './config.ts';
import { LIMIT_FIELDS } from './config-fields.ts';

/** Far over any real file; a larger one is a mistake that would cost memory in each process. */
export const MAX_OVERRIDES_BYTES = 16 * 1024 * 1024;
/** Each tenant's limits are an object of its own, about 1 KB: 100 MB. */
export const MAX_OVERRIDDEN_TENANTS = 100_000;
/** Tenants and keys that one warning names; further ones are counted. */
const MAX_NAMES_IN_WARNING = 20;

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

/** Reads overrides over the given defaults. Throws ConfigError, which tells all problems at once. */
export function parseOverrides(texts: readonly OverridesText[], defaults: Limits): Overrides {
  const reader: Reader = { problems: [], unknown: [] };
  const byTenant = new Map<string, Tree>();
  for (const { name, text } of texts) {
    const own: Reader = { problems: [], unknown: [] };
    for (const [tenant, values] of readTenants(name, text, own)) {
      byTenant.set(tenant, mergeTrees(byTenant.get(tenant) ?? {}, values));
    }
    reader.problems.push(...own.problems.map(problem => `${name}: ${problem}`));
    reader.unknown.push(...own.unknown.map(key => `${name}: ${key}`));
  }
  if (byTenant.size > MAX_OVERRIDDEN_TENANTS) {
    reader.problems.push(
      `overrides of ${byTenant.size} tenants, at most ${MAX_OVERRIDDEN_TENANTS} are possible`,
    );
  }
  const limits =
    reader.problems.length > 0 ? new Map<string, Limits>() : limitsOf(byTenant, defaults, reader);
  if (reader.problems.length > 0) throw new ConfigError(reader.problems.join('\n'));
  const warnings =
    reader.unknown.length === 0
      ? []
      : [`these keys of the overrides have no effect in Logboom: ${someOf(reader.unknown)}`];
  return { limits, warnings };
}

/** What a text says of each tenant; other keys at its top go to the reader's unknown ones. */
function readTenants(name: string, text: string, reader: Reader): [string, Tree][] {
  if (Buffer.byteLength(text) > MAX_OVERRIDES_BYTES) {
    throw new ConfigError(`${name}: larger than ${MAX_OVERRIDES_BYTES} bytes`);
  }
  const parsed = readYaml(name, text);
  const { overrides, ...others } = asMap(parsed, '', reader);
  reader.unknown.push(...Object.keys(others));
  const tenants = asMap(overrides, 'overrides', reader);
  return Object.entries(tenants).map(([tenant, values]) => [
    tenant,
    asMap(values, `overrides.${tenant}`, reader),
  ]);
}

function readYaml(name: string, text: string): unknown {
  try {
    // A tenant may be named 042 or true. Files of the reference share settings with `<<: *anchor`. The parser's own
    // search for repeated keys compares each with each: 5 minutes for 100,000 tenants.
    const document = parseDocument(text, { stringKeys: true, merge: true, uniqueKeys: false });
    if (document.errors.length > 0) throw document.errors[0];
    refuseRepeatedKeys(document);
    return document.toJS({ maxAliasCount: MAX_ALIASES });
  } catch (error) {
    throw new ConfigError(`${name}: ${messageOf(error)}`);
  }
}

/** Of two settings of one tenant the first would be lost without a word. */
function refuseRepeatedKeys(document: Document): void {
  visit(document, {
    Map(_, { items }) {
      const seen = new Set<unknown>();
      for (const { key } of items) {
        const name = isScalar(key) ? key.value : key;
        // Several anchors may be merged one by one.
        if (seen.has(name) && name !== '<<') throw new ConfigError(`the key ${String(name)} is there twice`);
        seen.add(name);
      }
    },
  });
}

/** Expansions of one anchor: shared settings of many tenants, yet no file that unfolds to gigabytes. */
const MAX_ALIASES = 10_000;

function limitsOf(
  byTenant: ReadonlyMap<string, Tree>,
  defaults: Limits,
  reader: Reader,
): ReadonlyMap<string, Limits> {
  const allowed = new Set(names(LIMIT_FIELDS));
  const limits = new Map<string, Limits>();
  for (const [tenant, values] of byTenant) {
    const place = `overrides.${tenant}`;
    // A key without a value says nothing.
    const given = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null));
    limits.set(tenant, Object.freeze(readFields(LIMIT_FIELDS, defaults, given, place, reader)));
    const strange = Object.keys(values).filter(key => !allowed.has(key));
    if (strange.length > 0) reader.unknown.push(`${tenant} (${strange.join(', ')})`);
  }
  return limits;
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

function someOf(all: readonly string[]): string {
  const shown = all.slice(0, MAX_NAMES_IN_WARNING).join('; ');
  return all.length > MAX_NAMES_IN_WARNING
    ? `${shown}; and ${all.length - MAX_NAMES_IN_WARNING} more`
    : shown;
}
