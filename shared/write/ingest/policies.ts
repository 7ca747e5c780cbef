/**
 * Assigns policies to a tenant's streams (`policy_stream_mapping`, docs/dev/wire-format.md#policies-and-blocks): names for groups of
 * streams that other limits refer to. A stream has the matching policy with the highest priority; ties are
 * decided by name.
 */

import { compareUtf8 } from '../../base/model/bytes.ts';
import type { Labels } from '../../base/model/labels.ts';
import type { Limits } from '../../base/model/limits.ts';
import { compileMatchers } from '../../language/logql/matcher.ts';
import { parseSelector } from '../../language/logql/parse.ts';

/** Policy of a stream that no policy matches. */
export const NO_POLICY = '';

type Mapping = Limits['policyStreamMapping'];
type PolicyOf = (labels: Labels) => string;

const COMPILED = new WeakMap<Mapping, PolicyOf>();

/** Returns the policy of a label set, NO_POLICY if none matches. Created once per mapping. */
export function policiesOf(mapping: Mapping): PolicyOf {
  let policyOf = COMPILED.get(mapping);
  if (policyOf === undefined) {
    policyOf = compile(mapping);
    COMPILED.set(mapping, policyOf);
  }
  return policyOf;
}

/** The selectors were validated when the configuration was read. */
function compile(mapping: Mapping): PolicyOf {
  const rules = [...mapping].flatMap(([policy, selectors]) =>
    selectors.map(({ selector, priority }) => ({
      policy,
      priority,
      matches: compileMatchers(parseSelector(selector)),
    })),
  );
  rules.sort((a, b) => b.priority - a.priority || compareUtf8(a.policy, b.policy));
  return labels => rules.find(rule => rule.matches(labels))?.policy ?? NO_POLICY;
}
