/**
 * Signatures of AWS, version 4, for requests that no client of the SDK makes: those to our own API where it asks for them, and
 * one to Secrets Manager. What is signed is method, path, query, the body's hash, and the headers named here.
 *
 * What a reader would get wrong: the host that is signed need not be the one that the request goes to. CloudFront puts the
 * gateway's own host into what it passes on, so for the gateway the signature must name that.
 */
import { createHash, createHmac } from 'node:crypto';

export interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
}

export interface SignedRequest {
  readonly method: string;
  /** Plain: nothing in it needs an escape. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  /** The host that the receiver believes to be. */
  readonly host: string;
  readonly body: string;
  /** Of the signature: `execute-api`, `secretsmanager`. */
  readonly service: string;
  readonly region: string;
  readonly nowMs: number;
}

const ALGORITHM = 'AWS4-HMAC-SHA256';

/** Headers to be added to the request; the host is not among them. */
export function signedHeaders(
  request: SignedRequest,
  { accessKeyId, secretAccessKey, sessionToken }: Credentials,
): Record<string, string> {
  const { method, path, query = {}, host, body, service, region, nowMs } = request;
  const time = new Date(nowMs).toISOString().replace(/[-:]|\.\d+/g, '');
  const day = time.slice(0, 8);
  const headers: Record<string, string> = { host, 'x-amz-date': time };
  if (sessionToken !== undefined) headers['x-amz-security-token'] = sessionToken;
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

/** In the one form that is signed; it is the form to send, too. */
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
