/** Address, region and credentials of a service, if plain variables of the environment define them. */

import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Environment } from '../base/model/environment.ts';

export interface ClientOptions {
  /** Region, for example `eu-central-1`. Default: from the environment or the profile. */
  readonly region?: string;
  /** Endpoint other than AWS, for example `http://localhost:4566`. */
  readonly endpoint?: string;
  /** Maximum number of concurrent calls. */
  readonly maxSockets?: number;
}

/** Credentials of one request. */
export interface AwsCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
}

export interface ServiceEndpoint {
  /** Protocol, host and port. */
  readonly endpoint: URL;
  /** Path of the endpoint, without a slash at its end. Empty for most. */
  readonly path: string;
  /** Region of signatures. */
  readonly region: string;
  /** Returns valid credentials. Renews them before they expire. */
  readonly credentials: () => Promise<AwsCredentials> | AwsCredentials;
}

/** Service to find: a bucket or a table. */
export type ServiceTarget = { readonly bucket: string } | { readonly table: string };

/** Region for signatures when an emulator is used. Emulators accept any region. */
export const REGION_OF_EMULATORS = 'us-east-1';

/** Variables that change the endpoint or the credentials, and that the SDK alone interprets. */
const LEFT_TO_SDK = /^AWS_(PROFILE|ENDPOINT_URL|USE_FIPS_ENDPOINT|USE_DUALSTACK_ENDPOINT)/;
/** Regions whose endpoints end in amazonaws.com. */
const PLAIN_REGION = /^(af|ap|ca|eu|il|me|mx|sa|us)-(central|north|south|east|west)+-\d$/;
/** Bucket names that can be the first label of a host name, so that its certificate is valid. */
const PLAIN_BUCKET = /^[a-z0-9](?!.*--)[a-z0-9-]{1,61}[a-z0-9]$/;

/** Returns undefined if anything except plain variables may decide. */
export function serviceInEnvironment(
  target: ServiceTarget,
  { endpoint, region: given }: ClientOptions,
  environment: Environment,
): ServiceEndpoint | undefined {
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = environment;
  if (!accessKeyId || !secretAccessKey) return undefined;
  if (Object.keys(environment).some(name => LEFT_TO_SDK.test(name) && environment[name])) return undefined;
  if (existsSync(environment.AWS_CONFIG_FILE || join(homedir(), '.aws', 'config'))) return undefined;
  const region = given ?? (endpoint === undefined ? environment.AWS_REGION : REGION_OF_EMULATORS);
  if (!region) return undefined;
  const url = endpoint === undefined ? awsUrl(target, region) : emulatorUrl(target, endpoint);
  if (url === undefined) return undefined;
  const credentials = { accessKeyId, secretAccessKey, sessionToken: environment.AWS_SESSION_TOKEN };
  return { endpoint: url, path: pathOf(url), region, credentials: () => credentials };
}

export function pathOf({ pathname }: URL): string {
  return pathname.replace(/\/+$/, '');
}

function awsUrl(target: ServiceTarget, region: string): URL | undefined {
  if (!PLAIN_REGION.test(region)) return undefined;
  if ('table' in target) return new URL(`https://dynamodb.${region}.amazonaws.com`);
  if (!PLAIN_BUCKET.test(target.bucket)) return undefined;
  return new URL(`https://${target.bucket}.s3.${region}.amazonaws.com`);
}

/** The bucket is in the path: in the host name, a name server would have to know it. */
function emulatorUrl(target: ServiceTarget, endpoint: string): URL {
  const url = new URL(endpoint);
  if ('bucket' in target) url.pathname = `${pathOf(url)}/${target.bucket}`;
  return url;
}
