/**
 * Rule groups as YAML, in and out (docs/dev/wire-format.md#rule-groups). Scalars are read as the text that stands there, so that
 * a label's value `1.0` stays that, as in the reference, whose fields are all texts but `limit`.
 */
import { Document, isNode, isScalar, type LineCounter, type Node, parseDocument, visit } from 'yaml';
import { formatPrometheusDuration, parsePrometheusDuration } from '../../base/model/duration.ts';
import { BadRequestError, TooLargeError } from '../../base/model/errors.ts';
import { MAX_GROUP_BYTES, type Rule, type RuleGroup } from '../../storage/catalog/rule-group.ts';

export const NO_GROUP = 'unable to decoded rule group';
/** Uses of one anchor in a text: a few lines may otherwise stand for gigabytes. */
export const MAX_ALIASES = 100;

/** A rule as it is written: whether it makes sense is for validateGroup. Absent texts are empty. */
export interface WrittenRule {
  readonly record: string;
  readonly alert: string;
  readonly expr: string;
  readonly forNs: bigint;
  readonly keepFiringForNs: bigint;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

export interface WrittenGroup extends Omit<RuleGroup, 'rules'> {
  readonly rules: readonly WrittenRule[];
}

/** Throws BadRequestError with the reference's text, and TooLargeError. */
export function readGroup(text: string): WrittenGroup {
  return readGroupValue(readYaml(text));
}

/** The groups of a file, `groups:` with a list, and its namespace where it names one. Throws like readGroup. */
export function readRuleFile(text: string): { namespace: string; groups: WrittenGroup[] } {
  const file = mapOf(readYaml(text));
  return { namespace: textOf(file.namespace), groups: listOf(file.groups).map(readGroupValue) };
}

/** What formatNamespaces wrote, of any size. Throws BadRequestError. */
export function readNamespaces(text: string): Map<string, WrittenGroup[]> {
  const namespaces = mapOf(parseYaml(text));
  return new Map(
    Object.entries(namespaces).map(([name, groups]) => [name, listOf(groups).map(readGroupValue)]),
  );
}

function readYaml(text: string): unknown {
  if (Buffer.byteLength(text) > MAX_GROUP_BYTES) {
    throw new TooLargeError(`rule group larger than ${MAX_GROUP_BYTES} bytes: divide it into several`);
  }
  return parseYaml(text);
}

/** Throws BadRequestError. */
function parseYaml(text: string): unknown {
  try {
    const document = parseRuleDocument(text);
    if (document.errors.length > 0) throw document.errors[0];
    if (repeatedKey(document) !== undefined) throw new Error('a key is repeated');
    return document.toJS({ maxAliasCount: MAX_ALIASES });
  } catch (error) {
    throw new BadRequestError(NO_GROUP, { cause: error });
  }
}

/** Its errors are in it; keys may be repeated. Does not throw. */
export function parseRuleDocument(text: string, lineCounter?: LineCounter): Document {
  return parseDocument(text, { schema: 'failsafe', uniqueKeys: false, logLevel: 'silent', lineCounter });
}

/** The first key that its map has twice. The library compares each with all others: 25,000 would take 10 seconds. */
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

/** A group as the library read it, with texts as its scalars. Throws BadRequestError. */
export function readGroupValue(value: unknown): WrittenGroup {
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

/** An absent value, or a plain scalar that YAML takes for none. */
function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || value === '' || value === 'null' || value === '~';
}

/** One group, keys in the reference's order, without empty ones. */
export function formatGroup(group: RuleGroup): string {
  return toYaml(shownGroup(group));
}

/** Namespaces with their groups. */
export function formatNamespaces(namespaces: ReadonlyMap<string, readonly RuleGroup[]>): string {
  return toYaml(Object.fromEntries([...namespaces].map(([name, groups]) => [name, groups.map(shownGroup)])));
}

/** Written as a file that readRuleFile reads. */
export function formatRuleFile(namespace: string, groups: readonly RuleGroup[]): string {
  return toYaml({ namespace, groups: groups.map(shownGroup) });
}

function toYaml(value: unknown): string {
  const document = new Document(value, { aliasDuplicateObjects: false });
  visit(document, {
    Scalar(_, scalar) {
      // At the beginning of a text a byte order mark would be none of the name's.
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
