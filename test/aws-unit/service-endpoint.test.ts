import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import { findService } from '../../shared/aws/find-service.ts';
import { type ServiceEndpoint, serviceInEnvironment } from '../../shared/aws/service-endpoint.ts';

const folder = mkdtempSync(join(tmpdir(), 'logboom-endpoint-'));
const KEYS = { AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'secret' };
const NO_FILE = join(folder, 'missing');
const LAMBDA = {
  ...KEYS,
  AWS_REGION: 'eu-central-1',
  AWS_SESSION_TOKEN: 'token',
  AWS_CONFIG_FILE: NO_FILE,
  AWS_LAMBDA_FUNCTION_NAME: 'push',
};
const bucket = { bucket: 'my-logs' };
const table = { table: 'logs' };

const before = { ...process.env };
beforeEach(() => {
  for (const name of Object.keys(process.env)) if (name.startsWith('AWS_')) delete process.env[name];
});
afterAll(() => {
  process.env = before;
  rmSync(folder, { recursive: true });
});

const shown = async (found: ServiceEndpoint | undefined) =>
  found && [found.endpoint.origin, found.path, found.region, await found.credentials()];

describe('a service endpoint in the environment', () => {
  test('names the service of the region, and the credentials of the function', async () => {
    const credentials = { accessKeyId: 'id', secretAccessKey: 'secret', sessionToken: 'token' };
    expect(await shown(serviceInEnvironment(bucket, {}, LAMBDA))).toEqual([
      'https://my-logs.s3.eu-central-1.amazonaws.com',
      '',
      'eu-central-1',
      credentials,
    ]);
    expect(await shown(serviceInEnvironment(table, { region: 'us-east-1' }, LAMBDA))).toEqual([
      'https://dynamodb.us-east-1.amazonaws.com',
      '',
      'us-east-1',
      credentials,
    ]);
  });

  test('has the bucket in the path of an emulator, with any region', async () => {
    const given = { ...KEYS, AWS_CONFIG_FILE: NO_FILE };
    const options = { endpoint: 'http://localhost:4566/base/' };
    expect(await shown(serviceInEnvironment(bucket, options, given))).toEqual([
      'http://localhost:4566',
      '/base/my-logs',
      'us-east-1',
      { accessKeyId: 'id', secretAccessKey: 'secret', sessionToken: undefined },
    ]);
    expect(serviceInEnvironment(table, options, given)?.path).toBe('/base');
  });

  test('is left to the SDK if anything else may decide', () => {
    const config = join(folder, 'present');
    writeFileSync(config, '');
    const cases: [object, object][] = [
      [bucket, { AWS_SECRET_ACCESS_KEY: undefined }],
      [bucket, { AWS_REGION: undefined }],
      [bucket, { AWS_REGION: 'cn-north-1' }],
      [bucket, { AWS_REGION: 'us-gov-west-1' }],
      [table, { AWS_REGION: 'us-iso-east-1' }],
      [table, { AWS_PROFILE: 'other' }],
      [table, { AWS_ENDPOINT_URL_DYNAMODB: 'http://localhost:1' }],
      [table, { AWS_USE_FIPS_ENDPOINT: 'true' }],
      [bucket, { AWS_USE_DUALSTACK_ENDPOINT: 'true' }],
      [bucket, { AWS_CONFIG_FILE: config }],
      [{ bucket: 'with.dots' }, {}],
      [{ bucket: 'logs--euc1-az1--x-s3' }, {}],
      [{ bucket: 'arn:aws:s3:us-west-2:123456789012:accesspoint/logs' }, {}],
    ];
    for (const [target, changes] of cases) {
      expect(serviceInEnvironment(target as typeof bucket, {}, { ...LAMBDA, ...changes })).toBeUndefined();
    }
  });
});

describe('a service endpoint that the SDK finds', () => {
  test('is of the profile, with its region, endpoint and credentials', async () => {
    const [config, credentials] = [join(folder, 'config'), join(folder, 'credentials')];
    writeFileSync(config, '[profile work]\nregion = ap-south-1\nendpoint_url = http://localhost:4599\n');
    writeFileSync(credentials, '[work]\naws_access_key_id = of-work\naws_secret_access_key = hidden\n');
    Object.assign(process.env, {
      AWS_PROFILE: 'work',
      AWS_CONFIG_FILE: config,
      AWS_SHARED_CREDENTIALS_FILE: credentials,
    });
    const found = await findService(bucket, {});
    expect([found.endpoint.href, found.path, found.region]).toEqual([
      'http://my-logs.localhost:4599/',
      '',
      'ap-south-1',
    ]);
    expect(await found.credentials()).toMatchObject({ accessKeyId: 'of-work', secretAccessKey: 'hidden' });
  });

  test('follows variables for endpoints, other partitions and special buckets', async () => {
    Object.assign(process.env, LAMBDA);
    const found = async (target: typeof bucket | typeof table, changes: object = {}) => {
      Object.assign(process.env, LAMBDA, changes);
      const { endpoint, path, region } = await findService(target, {});
      for (const name of Object.keys(changes)) delete process.env[name];
      return [endpoint.origin, path, region];
    };
    expect(await found(table, { AWS_USE_FIPS_ENDPOINT: 'true' })).toEqual([
      'https://dynamodb-fips.eu-central-1.amazonaws.com',
      '',
      'eu-central-1',
    ]);
    expect(await found(table, { AWS_REGION: 'cn-north-1' })).toEqual([
      'https://dynamodb.cn-north-1.amazonaws.com.cn',
      '',
      'cn-north-1',
    ]);
    expect(await found({ bucket: 'with.dots' })).toEqual([
      'https://s3.eu-central-1.amazonaws.com',
      '/with.dots',
      'eu-central-1',
    ]);
    const accessPoint = { bucket: 'arn:aws:s3:us-west-2:123456789012:accesspoint/logs' };
    expect(await found(accessPoint, { AWS_S3_USE_ARN_REGION: 'true' })).toEqual([
      'https://logs-123456789012.s3-accesspoint.us-west-2.amazonaws.com',
      '',
      'us-west-2',
    ]);
  });

  test('is refused if its requests need other signatures', async () => {
    Object.assign(process.env, LAMBDA);
    const target = { bucket: 'arn:aws:s3::123456789012:accesspoint/mfzwi23gnjvgw.mrap' };
    await expect(findService(target, {})).rejects.toThrow(
      'signatures of type sigv4a are not supported; use a bucket of one region',
    );
  });
});
