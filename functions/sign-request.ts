/**
 * Signs single requests that no client of shared/aws sends: requests to our own API if it requires signatures, one
 * request to Secrets Manager, and one to S3.
 */
import type { AwsCredentials } from '../shared/aws/service-endpoint.ts';
import { canonicalQuery, createSigner, type RequestToSign } from '../shared/aws/signature.ts';

interface SignedRequest extends Pick<RequestToSign, 'method' | 'path' | 'nowMs'> {
  readonly query?: Readonly<Record<string, string>>;
  /** Host that the receiver checks. */
  readonly host: string;
  readonly body: string;
  /** Service name in the signature: `execute-api`, `secretsmanager` or `s3`. */
  readonly service: string;
  readonly region: string;
}

/** Headers to add to the request. The host is not among them. */
export function signedHeaders(
  { service, region, host, query = {}, ...request }: SignedRequest,
  credentials: AwsCredentials,
): Record<string, string> {
  const sign = createSigner(service, region);
  const { host: _, ...added } = sign(
    { ...request, query: canonicalQuery(query), headers: { host } },
    credentials,
  );
  return added;
}
