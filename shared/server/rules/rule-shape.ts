/**
 * Checks the structure of a rule file field by field. The store ignores unknown fields and reports only that
 * a value is invalid. Authors of files need the misspelled field and its position.
 */
import { readGroupValue } from './rule-yaml.ts';

export type RulePath = readonly (string | number)[];

export interface ShapeProblem {
  readonly path: RulePath;
  readonly message: string;
}

const DURATION = 'a duration such as 30s, 5m or 1h30m';
const TEXTS = 'a map of strings';

/** Description of the contents of each field. */
const FILE_FIELDS = { namespace: 'a string', groups: 'a list of groups' };
const GROUP_FIELDS = {
  name: 'a string',
  interval: DURATION,
  query_offset: DURATION,
  limit: 'a whole number',
  rules: 'a list of rules',
};
const RULE_FIELDS = {
  record: 'a string',
  alert: 'a string',
  expr: 'a string',
  for: DURATION,
  keep_firing_for: DURATION,
  labels: TEXTS,
  annotations: TEXTS,
};

/**
 * @param file parsed file with strings as its scalars
 *
 * Never throws.
 */
export function shapeProblems(file: unknown): ShapeProblem[] {
  const problems = fieldProblems(file, [], FILE_FIELDS, 'a file of rules');
  listAt(file, 'groups').forEach((group, g) => {
    problems.push(...fieldProblems(group, ['groups', g], GROUP_FIELDS, 'a group'));
    listAt(group, 'rules').forEach((rule, r) => {
      problems.push(...fieldProblems(rule, ['groups', g, 'rules', r], RULE_FIELDS, 'a rule'));
    });
  });
  return problems;
}

function fieldProblems(
  value: unknown,
  path: RulePath,
  fields: Readonly<Record<string, string>>,
  what: string,
): ShapeProblem[] {
  if (!isMap(value))
    return [{ path, message: `${what} must be a map with the fields ${Object.keys(fields).join(', ')}` }];
  return Object.entries(value).flatMap(([name, held]) => {
    const at = [...path, name];
    if (!Object.hasOwn(fields, name)) return [{ path: at, message: `unknown field '${name}' of ${what}` }];
    return canBeRead(fields, name, held)
      ? []
      : [{ path: at, message: `field '${name}' must be ${fields[name]}` }];
  });
}

/** Checks each field alone with the code that reads it later. Items of lists are checked separately. */
function canBeRead(fields: object, name: string, value: unknown): boolean {
  if (name === 'groups' || name === 'rules') return Array.isArray(value) || isEmpty(value);
  const alone = { [name]: value };
  try {
    if (fields === RULE_FIELDS) readGroupValue({ rules: [alone] });
    else readGroupValue(fields === GROUP_FIELDS ? alone : { name: value });
    return true;
  } catch {
    return false;
  }
}

function listAt(value: unknown, name: string): unknown[] {
  const list = isMap(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  return Array.isArray(list) ? list : [];
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || value === '';
}
