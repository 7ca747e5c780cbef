/**
 * Converts a request to an AWS service to the terms of IAM: action, resource and context, one for each
 * permission that the service would check. It reads only the wire, so that it works for the bundles as they
 * are.
 *
 * Sources: "Actions, resources, and condition keys" of Amazon S3, DynamoDB, Lambda and API Gateway Management
 * V2 in the Service Authorization Reference; for transactions "Using IAM with DynamoDB transactions" of the
 * DynamoDB guide.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { Call } from './policy.ts';
import { ACCOUNT, type Json, REGION } from './template.ts';

export type Service = 's3' | 'dynamodb' | 'lambda' | 'connections';

export interface AwsRequest {
  readonly method: string;
  /** Path and query, as sent. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** The scope of a signature contains the service: `Credential=KEY/DATE/REGION/SERVICE/aws4_request`. */
export function serviceOf({ headers, url }: AwsRequest): Service {
  const named = /Credential=[^/]+\/\d+\/[^/]+\/([a-z0-9-]+)\//.exec(String(headers.authorization))?.[1];
  if (named === 'execute-api' || url.includes('/@connections/')) return 'connections';
  if (named === 's3' || named === 'dynamodb' || named === 'lambda') return named;
  throw new Error(`a call to a service that no function should use: ${named ?? 'unsigned'} ${url}`);
}

/** The access key that signed it: by it the caller is known. */
export function signerOf({ headers }: AwsRequest): string {
  const key = /Credential=([^/]+)\//.exec(String(headers.authorization))?.[1];
  if (key === undefined) throw new Error('a call to AWS without a signature');
  return decodeURIComponent(key);
}

export function permissionsOf(service: Service, request: AwsRequest): Call[] {
  switch (service) {
    case 's3':
      return s3(request);
    case 'dynamodb':
      return dynamodb(request);
    case 'lambda': {
      const name = lambdaNameOf(request.url);
      return [call('lambda:InvokeFunction', `arn:aws:lambda:${REGION}:${ACCOUNT}:function:${name}`)];
    }
    case 'connections': {
      const [api, stage, , id] = connectionOf(request.url);
      const resource = `arn:aws:execute-api:${REGION}:${ACCOUNT}:${api}/${stage}/${request.method}/@connections/${id}`;
      return [call('execute-api:ManageConnections', resource)];
    }
  }
}

export function lambdaNameOf(url: string): string {
  const name = /\/functions\/([^/]+)\/invocations/.exec(url)?.[1];
  if (name === undefined) throw new Error(`a call to Lambda that no function should make: ${url}`);
  return decodeURIComponent(name).replace(/^arn:.*:function:/, '');
}

/** API, stage, `@connections`, connection. The management endpoint of this cloud is `/_api/API/STAGE`. */
export function connectionOf(url: string): string[] {
  return url.split('?')[0].split('/').slice(2).map(decodeURIComponent);
}

function call(action: string, resource: string, context: Call['context'] = {}): Call {
  return { action, resource, context: { 'aws:securetransport': ['true'], ...context } };
}

function s3({ method, url, headers, body }: AwsRequest): Call[] {
  const { pathname, searchParams } = new URL(url, 'http://s3');
  const [, bucket, ...rest] = pathname.split('/').map(decodeURIComponent);
  const arn = `arn:aws:s3:::${bucket}`;
  const object = `${arn}/${rest.join('/')}`;
  if (rest.join('') === '') {
    if (method === 'GET' && searchParams.has('list-type'))
      return [call('s3:ListBucket', arn, { 's3:prefix': [searchParams.get('prefix') ?? ''] })];
    if (method === 'POST' && searchParams.has('delete')) {
      const keys = [...body.toString().matchAll(/<Key>([^<]*)<\/Key>/g)].map(([, key]) => key);
      return keys.map(key => call('s3:DeleteObject', `${arn}/${key}`));
    }
    throw new Error(`a call to a bucket that no function should make: ${method} ${url}`);
  }
  const left = [...searchParams.keys()].filter(name => name !== 'x-id');
  if (left.length > 0) throw new Error(`a call to S3 that no function should make: ${method} ${url}`);
  switch (method) {
    case 'GET':
    case 'HEAD':
      return [call('s3:GetObject', object)];
    case 'DELETE':
      return [call('s3:DeleteObject', object)];
    case 'PUT':
      if (headers['x-amz-copy-source'] !== undefined) throw new Error('no function should copy objects');
      return [call('s3:PutObject', object)];
    default:
      throw new Error(`a call to S3 that no function should make: ${method} ${url}`);
  }
}

const PARTITION_KEY = 'pk';

function dynamodb({ headers, body }: AwsRequest): Call[] {
  const operation = String(headers['x-amz-target']).split('.')[1];
  const asked: Json = JSON.parse(body.toString());
  const on = (action: string, table: string, keys: readonly Json[]): Call =>
    call(`dynamodb:${action}`, `arn:aws:dynamodb:${REGION}:${ACCOUNT}:table/${table}`, {
      'dynamodb:leadingkeys': keys.map(key => String(key?.[PARTITION_KEY]?.S)),
    });
  switch (operation) {
    case 'GetItem':
    case 'DeleteItem':
    case 'UpdateItem':
      return [on(operation, asked.TableName, [asked.Key])];
    case 'PutItem':
      return [on(operation, asked.TableName, [asked.Item])];
    case 'Query':
      return [on(operation, asked.TableName, [{ [PARTITION_KEY]: partitionOf(asked) }])];
    case 'Scan':
      return [call('dynamodb:Scan', `arn:aws:dynamodb:${REGION}:${ACCOUNT}:table/${asked.TableName}`)];
    case 'TransactWriteItems':
      return asked.TransactItems.map((part: Json) => {
        const [kind] = Object.keys(part);
        const { TableName, Item, Key } = part[kind];
        return on(kind === 'ConditionCheck' ? 'ConditionCheckItem' : `${kind}Item`, TableName, [Item ?? Key]);
      });
    case 'TransactGetItems':
      return asked.TransactItems.map(({ Get }: Json) => on('GetItem', Get.TableName, [Get.Key]));
    case 'BatchGetItem':
      return Object.entries(asked.RequestItems).map(([table, { Keys }]: [string, Json]) =>
        on(operation, table, Keys),
      );
    default:
      throw new Error(`an operation of DynamoDB that no function should use: ${operation}`);
  }
}

function partitionOf({
  KeyConditionExpression,
  ExpressionAttributeValues,
  ExpressionAttributeNames,
}: Json): Json {
  const names: Record<string, string> = ExpressionAttributeNames ?? {};
  const match = /([#\w]+)\s*=\s*(:\w+)/.exec(KeyConditionExpression);
  if (match === null || (names[match[1]] ?? match[1]) !== PARTITION_KEY)
    throw new Error(`a query whose partition cannot be told: ${KeyConditionExpression}`);
  return ExpressionAttributeValues[match[2]];
}
