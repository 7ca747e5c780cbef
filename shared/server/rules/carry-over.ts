/**
 * Matches the rules of a group with its state after an edit, so that a rule that moved keeps its alerts. A
 * key is `<index>/<kind>/<name>`; see ruleKey.
 */
import { type Rule, ruleKey } from '../../storage/catalog/rule-group.ts';

/** State key of each rule; `undefined` if it has no state. No key occurs twice. */
export function oldKeys(rules: readonly Rule[], keys: Iterable<string>): (string | undefined)[] {
  const left = new Set(keys);
  const found: (string | undefined)[] = rules.map((rule, index) => {
    const key = ruleKey(rule, index);
    return left.delete(key) ? key : undefined;
  });
  if (left.size === 0) return found;
  const byName = new Map<string, string[]>();
  for (const key of left) {
    const named = byName.get(nameOf(key));
    if (named === undefined) byName.set(nameOf(key), [key]);
    else named.push(key);
  }
  return found.map((key, index) => key ?? byName.get(nameOf(ruleKey(rules[index], index)))?.shift());
}

function nameOf(key: string): string {
  return key.slice(key.indexOf('/') + 1);
}
