/**
 * Compiles `otlp_config` into the action of an attribute (docs/dev/wire-format.md#resource-attributes). The first matching rule decides.
 * Rules match the name as sent, `k8s.pod.name`. A map is matched by its own name, and its members share its
 * action.
 */
import type { OtlpAction, OtlpConfig, OtlpRule } from '../../../base/model/limits.ts';
import { compileRegex } from '../../../language/regex/regex.ts';

export type AttributeRules = (attribute: string) => OtlpAction;

interface OtlpRules {
  readonly resource: AttributeRules;
  readonly scope: AttributeRules;
  readonly log: AttributeRules;
  readonly severityTextAsLabel: boolean;
}

// Keyed by the configuration, which lives as long as its limits: compiled once for all pushes.
const COMPILED = new WeakMap<OtlpConfig, OtlpRules>();

export function otlpRules(config: OtlpConfig): OtlpRules {
  let rules = COMPILED.get(config);
  if (rules === undefined) {
    rules = {
      resource: compileRules(config.resourceAttributes.attributesConfig),
      scope: compileRules(config.scopeAttributes),
      log: compileRules(config.logAttributes),
      severityTextAsLabel: config.severityTextAsLabel,
    };
    COMPILED.set(config, rules);
  }
  return rules;
}

function compileRules(rules: readonly OtlpRule[]): AttributeRules {
  const tests = rules.map(({ action, attributes, regex }) => ({ action, fits: testOf(attributes, regex) }));
  return attribute => tests.find(({ fits }) => fits(attribute))?.action ?? 'structured_metadata';
}

/** The expression follows relabeling rules: it must match the whole name, and `.` matches a newline too. */
function testOf(attributes: readonly string[], regex: string | undefined): (attribute: string) => boolean {
  if (regex === undefined) {
    const set = new Set(attributes);
    return attribute => set.has(attribute);
  }
  const expression = compileRegex(regex, { anchored: true, dotMatchesNewline: true });
  return attribute => expression.test(attribute);
}
