/**
 * Decides who may call a route, as the template says: every client, clients with a signature of AWS, or those
 * that a function accepts. The result of the function is cached for as long as the authorizer says.
 *
 * Source: "Control access to HTTP APIs with AWS Lambda authorizers" and "Create an API Gateway Lambda
 * authorizer" (for WebSocket APIs, which need a policy) of the API Gateway guide.
 */
import type { Invocation, LambdaFunction } from './lambda-function.ts';
import type { RolePolicy } from './policy.ts';
import type { Json, Template } from './template.ts';

type Decision =
  | { readonly allowed: true; readonly authorizer: Json }
  /** The status that the gateway answers. */
  | { readonly allowed: false; readonly status: 401 | 403 | 500 };

export interface Asked {
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** The event for the authorizer's function. */
  readonly event: Json;
  /** ARN of the called method: `arn:aws:execute-api:...`. */
  readonly arn: string;
}

/** Functions and callers, as the gateways know them. */
export interface Callers {
  readonly template: Template;
  readonly byArn: ReadonlyMap<string, LambdaFunction>;
  /** Policies of roles by access key. */
  readonly roles: ReadonlyMap<string, RolePolicy>;
}

export class RouteAuthorizers {
  readonly #template: Template;
  readonly #byArn: ReadonlyMap<string, LambdaFunction>;
  readonly #roles: ReadonlyMap<string, RolePolicy>;
  readonly #remembered = new Map<string, { readonly decision: Decision; readonly untilMs: number }>();

  constructor({ template, byArn, roles }: Callers) {
    this.#template = template;
    this.#byArn = byArn;
    this.#roles = roles;
  }

  async decide(route: Json, asked: Asked): Promise<Decision> {
    const type = route.AuthorizationType ?? 'NONE';
    if (type === 'NONE') return { allowed: true, authorizer: undefined };
    if (type === 'AWS_IAM') return this.#byRole(asked);
    if (type !== 'CUSTOM') throw new Error(`the assembly test does not know the authorization ${type}`);
    const id = this.#template.resolve(route.AuthorizerId);
    const found = this.#template
      .ofType('AWS::ApiGatewayV2::Authorizer')
      .find(one => this.#template.resolve({ Ref: one.id }) === id);
    if (found === undefined) throw new Error(`there is no authorizer ${id}`);
    return this.#ask(found.id, this.#template.resolve(found.properties), asked);
  }

  /** A signature is not verified here: the SDK creates it, and is tested with it. */
  #byRole({ headers, arn }: Asked): Decision {
    const [, key, service] =
      /^AWS4-HMAC-SHA256 Credential=([^/]+)\/\d{8}\/[^/]+\/([a-z0-9-]+)\/aws4_request,/.exec(
        headers.authorization ?? '',
      ) ?? [];
    const role = this.#roles.get(key);
    const call = { action: 'execute-api:Invoke', resource: arn, context: {} };
    if (service !== 'execute-api' || role === undefined || !role.allows(call))
      return { allowed: false, status: 403 };
    return { allowed: true, authorizer: { iam: { accessKey: key } } };
  }

  async #ask(id: string, settings: Json, asked: Asked): Promise<Decision> {
    const identity: (string | undefined)[] = (settings.IdentitySource ?? []).map((source: string) =>
      identityOf(source, asked),
    );
    // The function is not called without an identity.
    if (identity.some(value => value === undefined || value === '')) return { allowed: false, status: 401 };
    const key = JSON.stringify([id, identity]);
    const known = this.#remembered.get(key);
    if (known !== undefined && known.untilMs > Date.now()) return known.decision;
    const arn = /functions\/(arn:[^/]+)\/invocations/.exec(settings.AuthorizerUri)?.[1];
    const lambda = this.#byArn.get(String(arn));
    if (lambda === undefined) throw new Error(`the authorizer ${id} names no function`);
    // HTTP APIs name the called method `routeArn`, WebSocket APIs `methodArn`.
    const place = settings.EnableSimpleResponses === true ? 'routeArn' : 'methodArn';
    const event = { ...asked.event, type: 'REQUEST', identitySource: identity, [place]: asked.arn };
    const invocation = await lambda.invoke(event);
    const decision =
      'result' in invocation ? decisionOf(invocation.result, settings, asked.arn) : afterError(invocation);
    const ttlMs = 1000 * (settings.AuthorizerResultTtlInSeconds ?? 0);
    if (ttlMs > 0 && identity.length > 0)
      this.#remembered.set(key, { decision, untilMs: Date.now() + ttlMs });
    return decision;
  }
}

const FAILED: Decision = { allowed: false, status: 500 };

/** An authorizer throws this text to report that the caller is unknown. */
function afterError(invocation: Invocation): Decision {
  const { errorMessage } = 'functionError' in invocation ? invocation.functionError : {};
  return errorMessage === 'Unauthorized' ? { allowed: false, status: 401 } : FAILED;
}

function identityOf(source: string, { headers, query }: Asked): string | undefined {
  const [, kind, name] = /^\$?(?:request|route\.request)\.(header|querystring)\.(.+)$/.exec(source) ?? [];
  if (kind === 'header') return headers[name.toLowerCase()];
  if (kind === 'querystring') return query.get(name) ?? undefined;
  throw new Error(`the assembly test does not know the identity source ${source}`);
}

function decisionOf(result: Json, { EnableSimpleResponses }: Json, arn: string): Decision {
  if (EnableSimpleResponses === true) {
    if (typeof result?.isAuthorized !== 'boolean') return FAILED;
    return result.isAuthorized
      ? { allowed: true, authorizer: { lambda: result.context ?? {} } }
      : { allowed: false, status: 403 };
  }
  const statements: Json[] = result?.policyDocument?.Statement;
  if (!Array.isArray(statements) || typeof result.principalId !== 'string') return FAILED;
  const effects = statements
    .filter(
      ({ Action, Resource }) =>
        Action === 'execute-api:Invoke' && [Resource].flat().some(one => covers(one, arn)),
    )
    .map(({ Effect }) => Effect);
  return effects.includes('Allow') && !effects.includes('Deny')
    ? { allowed: true, authorizer: { ...result.context, principalId: result.principalId } }
    : { allowed: false, status: 403 };
}

function covers(pattern: string, arn: string): boolean {
  const source = pattern.replaceAll(/[.+^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*');
  return new RegExp(`^${source}$`).test(arn);
}
