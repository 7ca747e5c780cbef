/**
 * Validates a written group before it is stored, with the reference's messages (docs/dev/wire-format.md#checks-of-a-group).
 */

import { BadRequestError, messageOf } from '../../base/model/errors.ts';
import { parseQuery } from '../../language/logql/parse.ts';
import type { Rule, RuleGroup } from '../../storage/catalog/rule-group.ts';
import type { WrittenRule, YamlGroup } from './rule-yaml.ts';

/** Description of the error in a template; `undefined` if it is valid. */
export type CheckTemplate = (text: string) => string | undefined;

const LABEL_NAME = /^[a-zA-Z_][a-zA-Z0-9_]*$/;
const METRIC_NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const NAME_LABEL = '__name__';

interface GroupProblem {
  /** Index of the rule in the group; `undefined` for a problem of the group itself. */
  readonly rule: number | undefined;
  readonly message: string;
}

/** Returns the validated group. Throws BadRequestError with all problems. */
export function validateGroup(written: YamlGroup, maxRules: number, check: CheckTemplate): RuleGroup {
  const problems = problemsOf(written, check);
  if (problems.length > 0) throw new BadRequestError(problems.map(({ message }) => message).join(', '));
  const actual = written.rules.length;
  if (maxRules > 0 && actual > maxRules) {
    throw new BadRequestError(
      `per-user rules per rule group limit (limit: ${maxRules} actual: ${actual}) exceeded`,
    );
  }
  return { ...written, rules: written.rules.map(ruleOf) };
}

/** First problem of each rule, and problems of the group. */
export function problemsOf({ name, rules }: YamlGroup, check: CheckTemplate): GroupProblem[] {
  const problems: GroupProblem[] = [];
  if (name === '') problems.push({ rule: undefined, message: 'group 0: Groupname must not be empty' });
  rules.forEach((rule, index) => {
    const message = problemOf(rule, name, check);
    if (message !== undefined) problems.push({ rule: index, message });
  });
  return problems;
}

function problemOf(rule: WrittenRule, group: string, check: CheckTemplate): string | undefined {
  const { record, alert, expr, labels, annotations, forNs } = rule;
  if (record !== '' && alert !== '') return "only one of 'record' and 'alert' must be set";
  if (record === '' && alert === '') return "one of 'record' or 'alert' must be set";
  if (expr === '') return "field 'expr' must be set in rule";
  try {
    parseQuery(expr);
  } catch (error) {
    const what = record === '' ? `alert '${alert}'` : `record '${record}'`;
    return `could not parse expression for ${what} in group '${group}': ${messageOf(error)}`;
  }
  if (record !== '') {
    if (Object.keys(annotations).length > 0) return "invalid field 'annotations' in recording rule";
    if (forNs !== 0n) return "invalid field 'for' in recording rule";
    if (!METRIC_NAME.test(record)) return `invalid recording rule name: ${record}`;
  }
  return problemOfLabels(labels) ?? problemOfAnnotations(annotations) ?? problemOfTemplates(rule, check);
}

function problemOfLabels(labels: WrittenRule['labels']): string | undefined {
  for (const [name, value] of Object.entries(labels)) {
    if (!LABEL_NAME.test(name) || name === NAME_LABEL) return `invalid label name: ${name}`;
    if (!value.isWellFormed()) return `invalid label value: ${value}`;
  }
  return undefined;
}

function problemOfAnnotations(annotations: WrittenRule['annotations']): string | undefined {
  const strange = Object.keys(annotations).find(name => !LABEL_NAME.test(name));
  return strange === undefined ? undefined : `invalid annotation name: ${strange}`;
}

/** Recording rules have no templates. */
function problemOfTemplates(
  { alert, labels, annotations }: WrittenRule,
  check: CheckTemplate,
): string | undefined {
  if (alert === '') return undefined;
  for (const [kind, texts] of Object.entries({ label: labels, annotation: annotations })) {
    for (const [name, text] of Object.entries(texts)) {
      const message = check(text);
      if (message !== undefined) return `${kind} "${name}": ${message}`;
    }
  }
  return undefined;
}

function ruleOf(rule: WrittenRule): Rule {
  const { record, alert, expr, labels, annotations, forNs, keepFiringForNs } = rule;
  return record === ''
    ? { kind: 'alerting', alert, expr, forNs, keepFiringForNs, labels, annotations }
    : { kind: 'recording', record, expr, labels };
}
