/**
 * Evaluates the policies of a role by the rules of IAM, as far as the stack uses them: a denial always wins,
 * else one statement must allow. Counts used permissions, so that unused ones can be reported.
 *
 * Source of the rules: "Policy evaluation logic" and "IAM JSON policy elements: Condition operators" of the IAM
 * User Guide. An unknown operator or element throws, so that a policy never counts as wider than it is.
 */
import type { Json, Resource, Template } from './template.ts';

export interface Call {
  /** `service:Action`. */
  readonly action: string;
  readonly resource: string;
  /** Context keys in lower case: `dynamodb:leadingkeys` and the like, with all their values. */
  readonly context: Readonly<Record<string, readonly string[]>>;
}

interface Statement {
  readonly effect: 'Allow' | 'Deny';
  readonly actions: readonly string[];
  readonly resources: readonly string[];
  readonly conditions: Readonly<Record<string, Readonly<Record<string, string | readonly string[]>>>>;
}

export class RolePolicy {
  readonly role: string;
  readonly #statements: readonly Statement[];
  readonly #used = new Set<string>();

  constructor(template: Template, roleId: string) {
    this.role = roleId;
    const role = template.resource(roleId);
    const documents = [
      ...(role.properties.Policies ?? []).map(({ PolicyDocument }: Json) => PolicyDocument),
      ...attachedTo(template, role),
    ];
    if ((role.properties.ManagedPolicyArns ?? []).length > 0) {
      throw new Error(`${roleId} has managed policies, which say more than the stack does`);
    }
    this.#statements = documents.flatMap(document => list(document.Statement)).map(statementOf(template));
  }

  allows(call: Call): boolean {
    const matching = this.#statements.filter(statement => applies(statement, call));
    if (matching.some(({ effect }) => effect === 'Deny')) return false;
    const allowing = matching.find(({ effect }) => effect === 'Allow');
    if (allowing === undefined) return false;
    for (const pattern of allowing.actions) if (isLike(call.action, pattern)) this.#used.add(pattern);
    return true;
  }

  /** Actions that some statement allows and no call needed, but for those of `service`s omitted. */
  unused(without: readonly string[]): string[] {
    const actions = this.#statements.filter(({ effect }) => effect === 'Allow').flatMap(one => one.actions);
    return [...new Set(actions)].filter(
      action => !this.#used.has(action) && !without.includes(action.split(':')[0]),
    );
  }
}

function attachedTo(template: Template, role: Resource): Json[] {
  const name = template.nameOf(role);
  return template
    .ofType('AWS::IAM::Policy')
    .filter(({ properties }) => template.resolve(properties.Roles).includes(name))
    .map(({ properties }) => properties.PolicyDocument);
}

function statementOf(template: Template): (written: Json) => Statement {
  return written => {
    const { Effect, Action, Resource, Condition = {}, ...others } = template.resolve(written);
    const unknown = Object.keys(others).filter(name => name !== 'Sid');
    if (unknown.length > 0) throw new Error(`the assembly test does not know ${unknown} in a statement`);
    return {
      effect: Effect,
      actions: list(Action),
      resources: list(Resource),
      conditions: Condition,
    };
  };
}

function applies(
  { actions, resources, conditions }: Statement,
  { action, resource, context }: Call,
): boolean {
  return (
    actions.some(pattern => isLike(action, pattern)) &&
    resources.some(pattern => isLike(resource, pattern)) &&
    Object.entries(conditions).every(([operator, keys]) =>
      Object.entries(keys).every(([key, wanted]) =>
        conditionHolds(operator, context[key.toLowerCase()], list(wanted).map(String)),
      ),
    )
  );
}

function conditionHolds(
  operator: string,
  given: readonly string[] | undefined,
  wanted: readonly string[],
): boolean {
  const [set, name] = operator.includes(':') ? operator.split(':') : ['', operator];
  const test = OPERATORS[name];
  if (test === undefined) throw new Error(`the assembly test does not know the operator ${operator}`);
  const one = (value: string) => wanted.some(pattern => test(value, pattern));
  // ForAllValues holds without a value. That is IAM's rule, and the reason why such a statement must name its
  // actions.
  if (set === 'ForAllValues') return (given ?? []).every(one);
  if (given === undefined) return false;
  if (set === 'ForAnyValue') return given.some(one);
  return given.length === 1 && one(given[0]);
}

const OPERATORS: Readonly<Record<string, (value: string, pattern: string) => boolean>> = {
  StringEquals: (value, pattern) => value === pattern,
  StringLike: isLike,
  ArnEquals: isLike,
  ArnLike: isLike,
  Bool: (value, pattern) => value === pattern,
};

/** `*` is any text, `?` any character. */
function isLike(value: string, pattern: string): boolean {
  const source = pattern
    .replaceAll(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll('?', '.');
  return new RegExp(`^${source}$`, 's').test(value);
}

function list<T>(value: T | readonly T[]): T[] {
  return Array.isArray(value) ? [...value] : [value as T];
}
