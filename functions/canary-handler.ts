/**
 * Scheduled function that runs one canary round (shared/server/canary/canary-round.ts) and reports it in
 * embedded metrics.
 *
 *     LOGBOOM_URL              address of the API, without a trailing slash
 *     LOGBOOM_TENANT           tenant of the entries
 *     LOGBOOM_SIGNING_HOST     host of the API if it requires signatures; absent if it does not
 *     LOGBOOM_TOKEN_SECRET     ARN of the secret with a token, if the API requires one
 *
 * Pitfall: a failed round is not a failed invocation. It reports `CanarySuccess` 0, which triggers the alarm.
 * A round that does not end reports nothing, which triggers the alarm too.
 */

import { randomBytes } from 'node:crypto';
import type { AwsCredentials } from '../shared/aws/service-endpoint.ts';
import { canonicalQuery } from '../shared/aws/signature.ts';
import type { Environment } from '../shared/base/model/environment.ts';
import { type CanaryReport, runCanaryRound } from '../shared/server/canary/canary-round.ts';
import type { CanaryAnswer, CanarySend } from '../shared/server/canary/requests.ts';
import { type EmbeddedFigure, embeddedLine } from './embedded-line.ts';
import { signedHeaders } from './sign-request.ts';

interface CanaryFunctionParts {
  readonly environment: Environment;
  readonly nowMs: () => number;
  /** Prints a line of embedded metrics. */
  readonly print: (line: string) => void;
}

/**
 * Timeout of one request. A round has three requests, which end within the function's timeout of one minute.
 */
const REQUEST_TIMEOUT_MS = 15_000;
/** Larger than a response with 2,000 short lines, and than any page of the explorer. */
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;

export function createCanary({
  environment,
  nowMs,
  print,
}: CanaryFunctionParts): () => Promise<CanaryReport> {
  const url = named('LOGBOOM_URL', environment);
  const tenant = named('LOGBOOM_TENANT', environment);
  const functionName = environment.AWS_LAMBDA_FUNCTION_NAME ?? 'canary';
  return async () => {
    const send: CanarySend = async ({ method, path, query = {}, body = '' }) => {
      const headers = { 'x-scope-orgid': tenant, ...(await identityHeaders()) };
      const search = canonicalQuery(query);
      return answerOf(`${url}${path}${search === '' ? '' : `?${search}`}`, { method, headers, body });

      async function identityHeaders(): Promise<Record<string, string>> {
        const { LOGBOOM_SIGNING_HOST: host, LOGBOOM_TOKEN_SECRET: secret } = environment;
        if (secret) return { authorization: `Bearer ${await readSecret(secret, environment, nowMs())}` };
        if (!host) return {};
        const region = named('AWS_REGION', environment);
        const request = { method, path, query, host, body, service: 'execute-api', region, nowMs: nowMs() };
        return signedHeaders(request, credentialsOf(environment));
      }
    };
    const report = await runCanaryRound({ send, nowMs, round: randomBytes(8).toString('hex') });
    print(embeddedLine(functionName, nowMs(), figuresOf(report)));
    if (report.failure !== undefined) print(JSON.stringify({ level: 'error', msg: 'canary', ...report }));
    return report;
  };
}

function figuresOf({ ok, pushMs, readMs, missing, repeated }: CanaryReport): EmbeddedFigure[] {
  return [
    { name: 'CanarySuccess', unit: 'Count', value: ok ? 1 : 0 },
    { name: 'CanaryMissing', unit: 'Count', value: missing },
    { name: 'CanaryRepeated', unit: 'Count', value: repeated },
    ...(pushMs === undefined ? [] : [{ name: 'CanaryPush', unit: 'Milliseconds', value: pushMs } as const]),
    ...(readMs === undefined ? [] : [{ name: 'CanaryRead', unit: 'Milliseconds', value: readMs } as const]),
  ];
}

async function answerOf(
  url: string,
  { method, headers, body }: { method: string; headers: Record<string, string>; body: string },
): Promise<CanaryAnswer> {
  const answer = await fetch(url, {
    method,
    headers: body === '' ? headers : { ...headers, 'content-type': 'application/json' },
    redirect: 'manual',
    signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
    ...(body === '' ? {} : { body }),
  });
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of answer.body ?? []) {
    bytes += chunk.length;
    if (bytes > MAX_ANSWER_BYTES)
      throw new Error(`response is larger than the limit of ${MAX_ANSWER_BYTES} bytes`);
    chunks.push(chunk);
  }
  return { status: answer.status, text: Buffer.concat(chunks).toString() };
}

/** Reads the secret in each round, so that a token can change without a deployment. */
async function readSecret(arn: string, environment: Environment, nowMs: number): Promise<string> {
  const region = arn.split(':')[3];
  const host = `secretsmanager.${region}.amazonaws.com`;
  const body = JSON.stringify({ SecretId: arn });
  const request = { method: 'POST', path: '/', host, body, service: 'secretsmanager', region, nowMs };
  const headers = {
    ...signedHeaders(request, credentialsOf(environment)),
    'content-type': 'application/x-amz-json-1.1',
    'x-amz-target': 'secretsmanager.GetSecretValue',
  };
  const answer = await fetch(environment.AWS_ENDPOINT_URL ?? `https://${host}/`, {
    method: 'POST',
    headers,
    body,
    signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
  });
  const { SecretString: token } = (await answer.json()) as { SecretString?: unknown };
  if (typeof token !== 'string')
    throw new Error(`cannot read the canary token from ${arn}: status ${answer.status}`);
  return token.trim();
}

/** Reads the credentials that Lambda puts into the environment. */
function credentialsOf(environment: Environment): AwsCredentials {
  return {
    accessKeyId: named('AWS_ACCESS_KEY_ID', environment),
    secretAccessKey: named('AWS_SECRET_ACCESS_KEY', environment),
    sessionToken: environment.AWS_SESSION_TOKEN || undefined,
  };
}

function named(name: string, environment: Environment): string {
  const value = environment[name];
  if (!value) throw new Error(`the environment variable ${name} is not set`);
  return value;
}
