/**
 * Signs requests with AWS Signature Version 4 if no SDK client sends them: requests to our own API if it
 * requires signatures, one request to Secrets Manager, and one to S3. The signature covers the method, path,
 * query, body hash and the headers named below.
 *
 * Pitfall: the signed host can differ from the host of the URL. CloudFront replaces the host with the
 * gateway's own, so the signature must name the gateway.
 */
import { createHash, createHmac } from 'node:crypto';
import type { AwsCredentials } from '../shared/aws/service-endpoint.ts';

interface SignedRequest {
  readonly method: string;
  /** Path without characters that need an escape. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  /** Host that the receiver checks. */
  readonly host: string;
  readonly body: string;
  /** Service name in the signature: `execute-api`, `secretsmanager` or `s3`. */
  readonly service: string;
  readonly region: string;
  readonly nowMs: number;
}

const ALGORITHM = 'AWS4-HMAC-SHA256';

/** Headers to add to the request. The host is not among them. */
export function signedHeaders(
  request: SignedRequest,
  { accessKeyId, secretAccessKey, sessionToken }: AwsCredentials,
): Record<string, string> {
  const { method, path, query = {}, host, body, service, region, nowMs } = request;
  const time = new Date(nowMs).toISOString().replace(/[-:]|\.\d+/g, '');
  const day = time.slice(0, 8);
  const headers: Record<string, string> = { host, 'x-amz-date': time };
  if (sessionToken !== undefined) headers['x-amz-security-token'] = sessionToken;
  // S3 requires it as a header, too.
  if (service === 's3') headers['x-amz-content-sha256'] = sha256(body);
  const names = Object.keys(headers).sort();
  const signedNames = names.join(';');
  const canonical = [
    method,
    path,
    queryText(query),
    ...names.map(name => `${name}:${headers[name].trim()}`),
    '',
    signedNames,
    sha256(body),
  ].join('\n');
  const scope = `${day}/${region}/${service}/aws4_request`;
  const toSign = [ALGORITHM, time, scope, sha256(canonical)].join('\n');
  let key: string | Buffer = `AWS4${secretAccessKey}`;
  for (const part of [day, region, service, 'aws4_request']) key = hmac(key, part);
  const signature = hmac(key, toSign).toString('hex');
  const { host: _, ...added } = headers;
  return {
    ...added,
    authorization: `${ALGORITHM} Credential=${accessKeyId}/${scope}, SignedHeaders=${signedNames}, Signature=${signature}`,
  };
}

/** Formats the query in the canonical form of the signature. Send exactly this form. */
export function queryText(query: Readonly<Record<string, string>>): string {
  return Object.entries(query)
    .map(([name, value]) => `${encoded(name)}=${encoded(value)}`)
    .sort()
    .join('&');
}

function encoded(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    mark => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}
