/** Encodes a rule group as JSON, with times as text because they are in ns. */
import { CorruptionError } from '../../base/model/errors.ts';
import type { Rule, RuleGroup } from './rule-group.ts';

type BigintsAsText<T> = { readonly [K in keyof T]: T[K] extends bigint ? string : T[K] };
type EncodedRule = Rule extends infer R ? (R extends Rule ? BigintsAsText<R> : never) : never;

export function encodeRuleGroup(group: RuleGroup): Buffer {
  return Buffer.from(
    JSON.stringify(group, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value)),
  );
}

/** Throws CorruptionError. */
export function decodeRuleGroup(body: Uint8Array): RuleGroup {
  try {
    const group = JSON.parse(Buffer.from(body).toString()) as BigintsAsText<Omit<RuleGroup, 'rules'>> & {
      readonly rules: readonly EncodedRule[];
    };
    return {
      ...group,
      intervalNs: BigInt(group.intervalNs),
      queryOffsetNs: BigInt(group.queryOffsetNs),
      rules: group.rules.map(decodeRule),
    };
  } catch (error) {
    throw new CorruptionError(`rule group: ${String(error)}`);
  }
}

function decodeRule(rule: EncodedRule): Rule {
  if (rule.kind === 'recording') return rule;
  return { ...rule, forNs: BigInt(rule.forNs), keepFiringForNs: BigInt(rule.keepFiringForNs) };
}
