/**
 * Runs a synthesized assembly on this machine: each function in a separate process, the two APIs in front of
 * them, and a proxy between them and the emulator of S3 and DynamoDB that enforces their roles.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { CreateTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { type AwsProxy, startAwsProxy } from './aws-proxy.ts';
import { CDN_DOMAIN, type Cdn, type CdnOrigins, startCdn } from './cdn.ts';
import { type HttpApi, startHttpApi } from './http-api.ts';
import { type Invocation, LambdaFunction } from './lambda-function.ts';
import { RolePolicy } from './policy.ts';
import { type Json, REGION, type Resource, Template } from './template.ts';
import { startWebSocketApi, type WebSocketApi } from './websocket-api.ts';

interface CloudOptions {
  /** A cloud assembly. */
  readonly folder: string;
  /** URL of an emulator of S3 and DynamoDB. */
  readonly emulator: string;
  /**
   * Settings of an operator that the template does not contain. They are added to the environment of every
   * function.
   */
  readonly environment?: Readonly<Record<string, string>>;
}

const CREDENTIALS = { accessKeyId: 'test', secretAccessKey: 'test' };
/** Lambda makes as many as it needs; here they share two processors. */
const MAX_INSTANCES = 3;

export class Cloud {
  readonly template: Template;
  readonly functions: ReadonlyMap<string, LambdaFunction>;
  readonly roles: ReadonlyMap<string, RolePolicy>;
  readonly proxy: AwsProxy;
  readonly http: HttpApi;
  readonly tail: WebSocketApi;
  /** Undefined if the stack has no CDN. */
  readonly cdn: Cdn | undefined;

  private constructor(
    parts: Pick<Cloud, 'template' | 'functions' | 'roles' | 'proxy' | 'http' | 'tail' | 'cdn'>,
  ) {
    this.template = parts.template;
    this.functions = parts.functions;
    this.roles = parts.roles;
    this.proxy = parts.proxy;
    this.http = parts.http;
    this.tail = parts.tail;
    this.cdn = parts.cdn;
  }

  static async start({ folder, emulator, environment = {} }: CloudOptions): Promise<Cloud> {
    const template = new Template(folder);
    await provision(template, emulator);
    const resources = template
      .ofType('AWS::Lambda::Function')
      .filter(one => one.properties.Handler === 'index.handler');
    const roles = new Map<string, RolePolicy>();
    for (const { id, properties } of resources) roles.set(id, new RolePolicy(template, roleOf(properties)));
    const byArn = new Map<string, LambdaFunction>();
    const functions = new Map<string, LambdaFunction>();
    const byName = new Map<string, LambdaFunction>();
    // The gateways are there before the functions, whose environment names where they listen.
    const callers = { template, byArn, roles };
    const tail = await startWebSocketApi(callers);
    const http = await startHttpApi(callers);
    const hosts = new Map([
      [`${http.id}.execute-api.${REGION}.amazonaws.com`, http.url],
      [`${tail.id}.execute-api.${REGION}.amazonaws.com`, tail.url.replace('ws:', 'http:')],
    ]);
    const cdn = await startCdn(template, { urlOf: host => hosts.get(host), objectOf: reader(emulator) });
    const connections = new Map([[tail.id, tail.connections]]);
    const proxy = await startAwsProxy({ roles, functions: byName, connections, emulator });
    for (const resource of resources) {
      const settings = settingsOf(template, resource, value => reachable(value, { proxy, http, cdn }), {
        ...environment,
        AWS_ENDPOINT_URL: proxy.url,
      });
      const lambda = await LambdaFunction.open(settings);
      functions.set(resource.id, lambda);
      byArn.set(settings.arn, lambda);
      byName.set(settings.name, lambda);
    }
    const cloud = new Cloud({ template, functions, roles, proxy, http, tail, cdn });
    await cloud.#makeCustomResources();
    return cloud;
  }

  /** The function whose logical id begins so, in any case. */
  function(prefix: string): LambdaFunction {
    const found = [...this.functions].filter(([id]) => id.toLowerCase().startsWith(prefix.toLowerCase()));
    if (found.length !== 1) throw new Error(`${found.length} functions begin with ${prefix}`);
    return found[0][1];
  }

  /** A job, as the timer calls it. */
  runJob(job: string): Promise<Invocation> {
    return this.function('Maintenance').invoke({ job });
  }

  /** Does what EventBridge Scheduler does when the schedule whose input holds this text is due. */
  async tick(about: string): Promise<Invocation> {
    const due = this.template
      .ofType('AWS::Scheduler::Schedule')
      .filter(({ id, properties }) =>
        `${id} ${this.template.resolve(properties.Target.Input)}`.includes(about),
      );
    if (due.length !== 1) throw new Error(`${due.length} schedules are about ${about}`);
    const { Arn, RoleArn, Input } = this.template.resolve(due[0].properties.Target);
    const lambda = [...this.functions.values()].find(({ settings }) => settings.arn === Arn);
    if (lambda === undefined)
      throw new Error(`the schedule of ${about} calls ${Arn}, which is no function here`);
    const role = this.template.ofType('AWS::IAM::Role').find(one => this.template.arnOf(one) === RoleArn);
    const call = { action: 'lambda:InvokeFunction', resource: Arn, context: {} };
    if (role === undefined || !new RolePolicy(this.template, role.id).allows(call)) {
      throw new Error(`the role of the schedule of ${about} may not call its function`);
    }
    return lambda.invoke(JSON.parse(Input));
  }

  /**
   * Does what CloudFormation does with custom resources when it creates a stack: calls their functions, which
   * report the outcome.
   */
  async #makeCustomResources(): Promise<void> {
    for (const { id, type, properties } of this.template.all()) {
      if (!type.startsWith('Custom::')) continue;
      const { ServiceToken, ...others } = this.template.resolve(properties);
      const lambda = [...this.functions.values()].find(({ settings }) => settings.arn === ServiceToken);
      if (lambda === undefined)
        throw new Error(`${id} is made by ${ServiceToken}, which is no function here`);
      const told = await listenOnce();
      const invocation = await lambda.invoke({
        RequestType: 'Create',
        ResponseURL: told.url,
        StackId: 'assembly',
        RequestId: id,
        ResourceType: type,
        LogicalResourceId: id,
        ResourceProperties: { ServiceToken, ...others },
      });
      if ('functionError' in invocation)
        throw new Error(`${id} cannot be made: ${JSON.stringify(invocation)}`);
      const answer = JSON.parse(await told.body);
      if (answer.Status !== 'SUCCESS') throw new Error(`${id} cannot be made: ${answer.Reason}`);
    }
  }

  async close(): Promise<void> {
    await Promise.all([this.http.close(), this.tail.close(), this.cdn?.close()]);
    await Promise.all([...this.functions.values()].map(one => one.close()));
    await this.proxy.close();
  }
}

function roleOf({ Role }: Json): string {
  const id = Role?.['Fn::GetAtt']?.[0];
  if (typeof id !== 'string') throw new Error('a function whose role is not in the template');
  return id;
}

function settingsOf(
  template: Template,
  resource: Resource,
  reach: (value: string) => string,
  environment: Readonly<Record<string, string>>,
) {
  const { properties, id } = resource;
  const key: string = template.resolve(properties.Code.S3Key);
  const variables: Record<string, string> = template.resolve(properties.Environment?.Variables ?? {});
  const bytes = Buffer.byteLength(JSON.stringify(variables));
  if (bytes > 4 * 1024) throw new Error(`the environment of ${id} has ${bytes} bytes; Lambda takes 4 KB`);
  return {
    id,
    name: template.nameOf(resource),
    arn: template.arnOf(resource),
    code: join(template.folder, `asset.${key.replace(/\.zip$/, '')}`),
    handler: properties.Handler as string,
    timeoutMs: 1000 * (properties.Timeout ?? 3),
    memoryMb: (properties.MemorySize ?? 128) as number,
    maxInstances: Math.min(MAX_INSTANCES, properties.ReservedConcurrentExecutions ?? MAX_INSTANCES),
    environment: {
      ...Object.fromEntries(Object.entries(variables).map(([name, value]) => [name, reach(`${value}`)])),
      ...environment,
      AWS_REGION: REGION,
      // The proxy identifies a caller by its access key.
      AWS_ACCESS_KEY_ID: id,
      AWS_SECRET_ACCESS_KEY: 'assembly',
    },
  };
}

/** What plays an address of AWS here: the proxy the management endpoint of the WebSocket API, the gateways their own. */
function reachable(
  value: string,
  { proxy, http, cdn }: { proxy: AwsProxy; http: HttpApi; cdn: Cdn | undefined },
): string {
  const [, host, rest = ''] = /^https:\/\/([a-z0-9.-]+)(\/.*)?$/.exec(value) ?? [];
  if (host === CDN_DOMAIN && cdn !== undefined) return `${cdn.url}${rest}`;
  const api = /^([a-z0-9]+)\.execute-api\.[a-z0-9-]+\.amazonaws\.com$/.exec(host ?? '')?.[1];
  if (api === undefined) return value;
  return api === http.id ? `${http.url}${rest}` : `${proxy.url}/_api/${api}${rest}`;
}

/** A place that one request is sent to, as CloudFormation's answer URL. */
async function listenOnce(): Promise<{ readonly url: string; readonly body: Promise<string> }> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const server = createServer(async (request, response) => {
    resolve(await text(request));
    response.end();
    server.close();
    server.closeIdleConnections();
  });
  await new Promise<void>(listening => server.listen(0, '127.0.0.1', listening));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, body: promise };
}

/** Reads objects as CloudFront does, which has separate rights. */
function reader(emulator: string): CdnOrigins['objectOf'] {
  return async (bucket, key) => {
    const answer = await fetch(`${emulator}/${bucket}/${key.split('/').map(encodeURIComponent).join('/')}`);
    if (!answer.ok) return undefined;
    return {
      body: Buffer.from(await answer.arrayBuffer()),
      contentType: answer.headers.get('content-type') ?? 'application/octet-stream',
    };
  };
}

/** Bucket and table as the template wants them, in the emulator. */
async function provision(template: Template, emulator: string): Promise<void> {
  const place = { endpoint: emulator, region: REGION, credentials: CREDENTIALS };
  const s3 = new S3Client({ ...place, forcePathStyle: true });
  const dynamodb = new DynamoDBClient(place);
  try {
    for (const bucket of template.ofType('AWS::S3::Bucket')) {
      await s3.send(new CreateBucketCommand({ Bucket: template.nameOf(bucket) }));
    }
    for (const table of template.ofType('AWS::DynamoDB::Table')) {
      const { KeySchema, AttributeDefinitions, BillingMode } = template.resolve(table.properties);
      const TableName = template.nameOf(table);
      await dynamodb.send(
        new CreateTableCommand({ TableName, KeySchema, AttributeDefinitions, BillingMode }),
      );
    }
  } finally {
    s3.destroy();
    dynamodb.destroy();
  }
}
