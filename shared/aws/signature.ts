/**
 * Signs requests with AWS Signature Version 4. The signature covers the method, path, query, body and all headers but
 * those that proxies change.
 *
 * Pitfall: the signed host can differ from the host of the URL. CloudFront replaces the host with the gateway's own, so
 * the signature must name the gateway.
 */
import { createHmac, createSecretKey, hash, type KeyObject } from 'node:crypto';
import type { AwsCredentials } from './service-endpoint.ts';

export interface RequestToSign {
  readonly method: string;
  /** Percent-encoded path, as it is sent. */
  readonly path: string;
  /** Query in canonical form (`canonicalQuery`). Default: none. */
  readonly query?: string;
  /** Headers with names in lower case. `host` is the host that the receiver checks. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer | string | undefined;
  /** Unix ms of the service's clock. */
  readonly nowMs: number;
}

/** Returns the headers to send: the given ones, and those of the signature. */
export type Signer = (request: RequestToSign, credentials: AwsCredentials) => Record<string, string>;

const ALGORITHM = 'AWS4-HMAC-SHA256';
const UNSIGNED: ReadonlySet<string> = new Set(['user-agent', 'range']);

interface SigningKey {
  readonly secret: string;
  readonly day: string;
  readonly key: KeyObject;
}

/** @param service name of the service in signatures, for example `s3` */
export function createSigner(service: string, region: string): Signer {
  const isS3 = service === 's3';
  /** The last key. A signature with a prepared key takes a fifth of the time. */
  let last: SigningKey | undefined;
  let second = Number.NaN;
  let time = '';

  const keyOf = (secret: string, day: string): KeyObject => {
    if (last === undefined || last.secret !== secret || last.day !== day) {
      let derived: string | Buffer = `AWS4${secret}`;
      for (const part of [day, region, service, 'aws4_request']) {
        derived = createHmac('sha256', derived).update(part).digest();
      }
      last = { secret, day, key: createSecretKey(derived as Buffer) };
    }
    return last.key;
  };

  return ({ method, path, query = '', headers, body = '', nowMs }, credentials) => {
    const { accessKeyId, secretAccessKey, sessionToken } = credentials;
    if (Math.floor(nowMs / 1000) !== second) {
      second = Math.floor(nowMs / 1000);
      time = new Date(nowMs).toISOString().replace(/[-:]|\.\d+/g, '');
    }
    const bodyHash = hash('sha256', body, 'hex');
    const sent: Record<string, string> = { ...headers, 'x-amz-date': time };
    if (sessionToken !== undefined && sessionToken !== '') sent['x-amz-security-token'] = sessionToken;
    // S3 requires it as a header, too.
    if (isS3) sent['x-amz-content-sha256'] = bodyHash;
    const names = Object.keys(sent)
      .filter(name => !UNSIGNED.has(name))
      .sort();
    const signedNames = names.join(';');
    let canonical = `${method}\n${isS3 ? path : encodedPath(path)}\n${query}\n`;
    for (const name of names) canonical += `${name}:${trimmed(sent[name])}\n`;
    canonical += `\n${signedNames}\n${bodyHash}`;
    const day = time.slice(0, 8);
    const scope = `${day}/${region}/${service}/aws4_request`;
    const toSign = `${ALGORITHM}\n${time}\n${scope}\n${hash('sha256', canonical, 'hex')}`;
    const signature = createHmac('sha256', keyOf(secretAccessKey, day)).update(toSign).digest('hex');
    sent.authorization = `${ALGORITHM} Credential=${accessKeyId}/${scope}, SignedHeaders=${signedNames}, Signature=${signature}`;
    return sent;
  };
}

/** Formats a query in the canonical form of the signature. Send exactly this form. */
export function canonicalQuery(query: Readonly<Record<string, string>>): string {
  return Object.entries(query)
    .map(([name, value]) => `${encoded(name)}=${encoded(value)}`)
    .sort()
    .join('&');
}

/** Percent-encodes all bytes but those that no server may encode differently. */
export function encoded(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    mark => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** Services other than S3 sign the path encoded twice. */
function encodedPath(path: string): string {
  return path === '/' ? path : path.split('/').map(encoded).join('/');
}

function trimmed(value: string): string {
  return value.trim().replace(/\s+/g, ' ');
}
