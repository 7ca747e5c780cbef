/**
 * Checks the labels that a tenant's streams must have (`enforced_labels`, `policy_enforced_labels`;
 * docs/dev/wire-format.md#validation).
 */
import { type Labels, labelValue } from '../../base/model/labels.ts';
import { GLOBAL_POLICY, type Limits } from '../../base/model/limits.ts';

const NONE: readonly string[] = [];

/**
 * Returns the missing labels without repeats: first those of the tenant, then those of every policy, then
 * those of the stream's policy.
 */
export function missingEnforcedLabels(labels: Labels, policy: string, limits: Limits): readonly string[] {
  const { enforcedLabels, policyEnforcedLabels } = limits;
  if (enforcedLabels.length === 0 && policyEnforcedLabels.size === 0) return NONE;
  const required = new Set([
    ...enforcedLabels,
    ...(policyEnforcedLabels.get(GLOBAL_POLICY) ?? NONE),
    ...(policyEnforcedLabels.get(policy) ?? NONE),
  ]);
  return [...required].filter(name => labelValue(labels, name) === undefined);
}
