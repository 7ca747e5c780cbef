/**
 * Parses and formats rule groups as YAML (docs/dev/wire-format.md#rule-groups). Scalars are read as written, so that a
 * label value `1.0` stays `1.0`. In the reference, all fields except `limit` are strings.
 */
import { Document, isNode, isScalar, type LineCounter, type Node, parseDocument, visit } from 'yaml';
import { formatPrometheusDuration, parsePrometheusDuration } from '../../base/model/duration.ts';
import { BadRequestError, TooLargeError } from '../../base/model/errors.ts';
import { MAX_GROUP_BYTES, type Rule, type RuleGroup } from '../../storage/catalog/rule-group.ts';

const NO_GROUP = 'unable to decoded rule group';
/** Uses of one anchor in a text. Without a limit, a few lines can expand to gigabytes. */
export const MAX_ALIASES = 100;

/** A rule as written. validateGroup checks whether it is valid. Absent strings are empty. */
export interface WrittenRule {
  readonly record: string;
  readonly alert: string;
  readonly expr: string;
  readonly forNs: bigint;
  readonly keepFiringForNs: bigint;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

export interface YamlGroup extends Omit<RuleGroup, 'rules'> {
  readonly rules: readonly WrittenRule[];
}

/** Throws BadRequestError with the reference's text, and TooLargeError. */
export function readGroup(text: string): YamlGroup {
  return readGroupValue(readYaml(text));
}

/** Groups of a file, a list under `groups:`, and its namespace if it names one. Throws like readGroup. */
export function readRuleFile(text: string): { namespace: string; groups: YamlGroup[] } {
  const file = mapOf(readYaml(text));
  return { namespace: textOf(file.namespace), groups: listOf(file.groups).map(readGroupValue) };
}

/** Parses the output of formatNamespaces, of any size. Throws BadRequestError. */
export function readNamespaces(text: string): Map<string, YamlGroup[]> {
  const namespaces = mapOf(parseYaml(text));
  return new Map(
    Object.entries(namespaces).map(([name, groups]) => [name, listOf(groups).map(readGroupValue)]),
  );
}

function readYaml(text: string): unknown {
  if (Buffer.byteLength(text) > MAX_GROUP_BYTES) {
    throw new TooLargeError(`rule group larger than ${MAX_GROUP_BYTES} bytes; divide it into several`);
  }
  return parseYaml(text);
}

/** Throws BadRequestError. */
function parseYaml(text: string): unknown {
  try {
    const document = parseRuleDocument(text);
    if (document.errors.length > 0) throw document.errors[0];
    if (repeatedKey(document) !== undefined) throw new Error('duplicate key');
    return document.toJS({ maxAliasCount: MAX_ALIASES });
  } catch (error) {
    throw new BadRequestError(NO_GROUP, { cause: error });
  }
}

/** Returns a document that contains its errors. Keys may be repeated. Never throws. */
export function parseRuleDocument(text: string, lineCounter?: LineCounter): Document {
  return parseDocument(text, { schema: 'failsafe', uniqueKeys: false, logLevel: 'silent', lineCounter });
}

/**
 * First duplicate key of a map. The library compares each key with all others: 25,000 would take 10 seconds.
 */
export function repeatedKey(document: Document): Node | undefined {
  let repeated: Node | undefined;
  visit(document, {
    Map(_, { items }) {
      const seen = new Set<unknown>();
      for (const { key } of items) {
        const name = isScalar(key) ? key.value : key;
        if (seen.has(name)) {
          repeated = isNode(key) ? key : undefined;
          return visit.BREAK;
        }
        seen.add(name);
      }
      return undefined;
    },
  });
  return repeated;
}

/** Reads a parsed group with strings as its scalars. Throws BadRequestError. */
export function readGroupValue(value: unknown): YamlGroup {
  const group = mapOf(value);
  return {
    name: textOf(group.name),
    intervalNs: durationOf(group.interval),
    limit: countOf(group.limit),
    queryOffsetNs: durationOf(group.query_offset),
    rules: listOf(group.rules).map(ruleOf),
  };
}

function ruleOf(value: unknown): WrittenRule {
  const rule = mapOf(value);
  return {
    record: textOf(rule.record),
    alert: textOf(rule.alert),
    expr: textOf(rule.expr),
    forNs: durationOf(rule.for),
    keepFiringForNs: durationOf(rule.keep_firing_for),
    labels: textsOf(rule.labels),
    annotations: textsOf(rule.annotations),
  };
}

function mapOf(value: unknown): Record<string, unknown> {
  if (isEmpty(value)) return {};
  if (typeof value === 'object' && !Array.isArray(value)) return value as Record<string, unknown>;
  throw new BadRequestError(NO_GROUP);
}

function listOf(value: unknown): unknown[] {
  if (isEmpty(value)) return [];
  if (Array.isArray(value)) return value;
  throw new BadRequestError(NO_GROUP);
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'string') return value;
  throw new BadRequestError(NO_GROUP);
}

function textsOf(value: unknown): Record<string, string> {
  return Object.fromEntries(Object.entries(mapOf(value)).map(([name, text]) => [name, textOf(text)]));
}

function durationOf(value: unknown): bigint {
  const text = textOf(value);
  if (isEmpty(text)) return 0n;
  try {
    return parsePrometheusDuration(text);
  } catch (error) {
    throw new BadRequestError(NO_GROUP, { cause: error });
  }
}

function countOf(value: unknown): number {
  const text = textOf(value);
  if (isEmpty(text)) return 0;
  if (!/^\d{1,15}$/.test(text)) throw new BadRequestError(NO_GROUP);
  return Number(text);
}

/** True for an absent value, and for a plain scalar that YAML treats as null. */
function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || value === '' || value === 'null' || value === '~';
}

/** Formats one group in the reference's key order, without empty keys. */
export function formatGroup(group: RuleGroup): string {
  return toYaml(shownGroup(group));
}

/** Formats namespaces with their groups. */
export function formatNamespaces(namespaces: ReadonlyMap<string, readonly RuleGroup[]>): string {
  return toYaml(Object.fromEntries([...namespaces].map(([name, groups]) => [name, groups.map(shownGroup)])));
}

function toYaml(value: unknown): string {
  const document = new Document(value, { aliasDuplicateObjects: false });
  visit(document, {
    Scalar(_, scalar) {
      // At the start of a text, a byte order mark would not be part of the name.
      if (typeof scalar.value === 'string' && scalar.value.startsWith('\ufeff')) scalar.type = 'QUOTE_DOUBLE';
    },
  });
  return document.toString({ indent: 4, lineWidth: 0 });
}

function shownGroup({ name, intervalNs, limit, queryOffsetNs, rules }: RuleGroup): object {
  return {
    name,
    ...(intervalNs > 0n && { interval: formatPrometheusDuration(intervalNs) }),
    ...(queryOffsetNs > 0n && { query_offset: formatPrometheusDuration(queryOffsetNs) }),
    ...(limit > 0 && { limit }),
    rules: rules.map(shownRule),
  };
}

function shownRule(rule: Rule): object {
  if (rule.kind === 'recording') {
    return { record: rule.record, expr: rule.expr, ...unlessEmpty('labels', rule.labels) };
  }
  const { alert, expr, forNs, keepFiringForNs, labels, annotations } = rule;
  return {
    alert,
    expr,
    ...(forNs > 0n && { for: formatPrometheusDuration(forNs) }),
    ...(keepFiringForNs > 0n && { keep_firing_for: formatPrometheusDuration(keepFiringForNs) }),
    ...unlessEmpty('labels', labels),
    ...unlessEmpty('annotations', annotations),
  };
}

function unlessEmpty(key: string, texts: Readonly<Record<string, string>>): object {
  return Object.keys(texts).length === 0 ? {} : { [key]: texts };
}
