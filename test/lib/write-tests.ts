/** The write service: its clients, its rights, and its container, which runs here as in its image. */
import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { join, relative } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { WRITE_SERVICE } from '../../bench/model/figures.ts';
import { KEEP_ALIVE_MS as TAIL_KEEP_ALIVE_MS } from '../../functions/assemble-tail.ts';
import { functionOf } from '../../functions/groups.ts';
import { patternsOf, WRITE_SERVICE_TOKEN_RIGHTS } from '../../lib/rights.ts';
import { TASK } from '../../lib/write-task.ts';
import { parseConfig } from '../../shared/server/admin/config.ts';
import { ROUTES } from '../../shared/server/http/route-table.ts';
import { pathsOf } from '../../shared/server/http/routes.ts';
import { createClient } from '../end-to-end/support/client.ts';
import { JSON_TYPE, jsonPush } from '../end-to-end/support/push.ts';
import { notAllowed } from './allowed.ts';
import { type Assembly, type Built, idIn } from './build.ts';
import { type FakeServices, startFakeServices } from './fake-services.ts';
import { VARIANTS } from './variants.ts';

const PUSH_PATHS = ROUTES.filter(route => functionOf(route) === 'push').flatMap(pathsOf);
const PROGRAM = 'program.zip';
const INVOKE = join(import.meta.dirname, 'invoke.mjs');
/** The library is a package of the stack. */
const { zipSync } = createRequire(join(import.meta.dirname, '../../lib/package.json'))('fflate') as {
  zipSync(files: Record<string, Uint8Array>): Uint8Array;
};

interface ContainerOfTask {
  readonly Command: readonly string[];
  readonly Environment: readonly { readonly Name: string; readonly Value: unknown }[];
  readonly Image: string;
  readonly User: string;
}

export function writeTests(built: () => Built): void {
  const only = (assembly: Assembly, type: string) => {
    const found = assembly.ofType(type);
    expect([type, found.length]).toEqual([type, 1]);
    return found[0][1].Properties;
  };
  const containerOf = (assembly: Assembly): ContainerOfTask =>
    only(assembly, 'AWS::ECS::TaskDefinition').ContainerDefinitions[0];
  /** Port and source of everything that may open a connection. */
  const ingress = (assembly: Assembly) => [
    ...assembly
      .ofType('AWS::EC2::SecurityGroup')
      .flatMap(([id, { Properties }]) =>
        (Properties.SecurityGroupIngress ?? []).map(
          (rule: { FromPort: number; CidrIp: string }) =>
            `${id.slice(0, 10)} ${rule.FromPort} ${rule.CidrIp}`,
        ),
      ),
    ...assembly
      .ofType('AWS::EC2::SecurityGroupIngress')
      .map(
        ([, { Properties }]) =>
          `${idIn(Properties.GroupId).slice(0, 10)} ${Properties.FromPort} ${idIn(Properties.SourceSecurityGroupId).slice(0, 10)}`,
      ),
  ];

  describe('the write service', () => {
    test('is only in a stack that asks for it', () => {
      for (const [name, { resources }] of Object.entries(built().assemblies)) {
        const types = Object.values(resources).map(({ Type }) => Type);
        const has = types.some(type => /ECS|ElasticLoad|EC2/.test(type));
        expect([name, has]).toEqual([name, name === 'service' || name === 'direct']);
      }
    });

    test('is behind the routes of pushes, and only the API reaches its load balancer', () => {
      const { service } = built().assemblies;
      const served = service
        .ofType('AWS::ApiGatewayV2::Route')
        .filter(([, { Properties }]) => {
          const { ConnectionType } = service.resources[idIn(Properties.Target)].Properties;
          return ConnectionType === 'VPC_LINK';
        })
        .map(([, { Properties }]) => Properties.RouteKey);
      expect(served.sort()).toEqual(PUSH_PATHS.map(path => `ANY ${path}`).sort());
      expect(only(service, 'AWS::ElasticLoadBalancingV2::LoadBalancer').Scheme).toBe('internal');
      expect(ingress(service)).toEqual([
        expect.stringMatching(/^WriteTasks 3100 WriteFront/),
        expect.stringMatching(/^WriteFront 80 WriteLinkG/),
      ]);
    });

    test('is the address of the store with a domain: TLS, pushes in one target group, everything else in another', () => {
      const { direct } = built().assemblies;
      expect(only(direct, 'AWS::ElasticLoadBalancingV2::LoadBalancer').Scheme).toBe('internet-facing');
      const { Port, Protocol, Certificates, DefaultActions, SslPolicy } = only(
        direct,
        'AWS::ElasticLoadBalancingV2::Listener',
      );
      expect([Port, Protocol, Certificates]).toEqual([
        443,
        'HTTPS',
        [{ CertificateArn: VARIANTS.direct.certificateArn }],
      ]);
      expect(SslPolicy).toMatch(/TLS13/);
      expect(DefaultActions).toHaveLength(1);
      const groupOf = ({ TargetGroupArn }: { TargetGroupArn: unknown }) => idIn(TargetGroupArn);
      expect(groupOf(DefaultActions[0])).toMatch(/^WriteOthers/);
      const rules = direct
        .ofType('AWS::ElasticLoadBalancingV2::ListenerRule')
        .map(([, one]) => one.Properties);
      const paths = rules.flatMap(({ Conditions }) => Conditions[0].PathPatternConfig.Values);
      expect(paths.sort()).toEqual(PUSH_PATHS.map(path => path.replace('{index}', '*')).sort());
      for (const { Conditions, Actions } of rules) {
        expect(Conditions[0].PathPatternConfig.Values.length).toBeLessThanOrEqual(5);
        expect(groupOf(Actions[0])).toMatch(/^WriteTargets/);
      }
      // More rules would cost capacity units for each request.
      expect(rules).toHaveLength(WRITE_SERVICE.rules);
      expect(rules.length).toBeLessThanOrEqual(WRITE_SERVICE.freeRules);
      const { LoadBalancers } = only(direct, 'AWS::ECS::Service');
      expect(LoadBalancers.map(groupOf).sort()).toEqual([
        expect.stringMatching(/^WriteOthers/),
        expect.stringMatching(/^WriteTargets/),
      ]);
      expect(ingress(direct)).toEqual([
        expect.stringMatching(/^WriteFront 443 0\.0\.0\.0\/0$/),
        expect.stringMatching(/^WriteTasks 3100 WriteFront/),
      ]);
      expect(direct.ofType('AWS::ApiGatewayV2::VpcLink')).toEqual([]);
      expect(direct.ofType('AWS::CloudFront::Distribution')).toEqual([]);
      for (const name of ['BaseUrl', 'PushUrl'])
        expect([name, direct.outputs[name].Value]).toEqual([name, 'https://logs.example.com']);
      expect(JSON.stringify(direct.outputs.DomainTarget.Value)).toContain('DNSName');
    });

    test('forwards to both APIs in the region if it is the address of the store, and to nothing else', () => {
      const { direct, service } = built().assemblies;
      const environmentOf = (assembly: Assembly, name: string) =>
        containerOf(assembly).Environment.find(({ Name }) => Name === name)?.Value;
      const api = (protocol: string) =>
        direct
          .ofType('AWS::ApiGatewayV2::Api')
          .filter(([, { Properties }]) => Properties.ProtocolType === protocol)
          .map(([id]) => id)[0];
      const joined = (value: unknown) => JSON.stringify(value);
      expect(joined(environmentOf(direct, 'LOGBOOM_FORWARD_TO'))).toMatch(
        new RegExp(
          `"https://",\\{"Ref":"${api('HTTP')}"\\},"\\.execute-api\\.",.*"AWS::URLSuffix"\\}\\]\\]\\}$`,
        ),
      );
      expect(joined(environmentOf(direct, 'LOGBOOM_FORWARD_TAILS_TO'))).toMatch(
        new RegExp(`"https://",\\{"Ref":"${api('WEBSOCKET')}"\\},"\\.execute-api\\.",.*"/live"\\]\\]\\}$`),
      );
      for (const name of ['LOGBOOM_FORWARD_TO', 'LOGBOOM_FORWARD_TAILS_TO'])
        expect(environmentOf(service, name)).toBeUndefined();
    });

    test('its containers keep idle connections longer than the load balancer, and that longer than a tail is idle', () => {
      for (const name of ['service', 'direct'] as const) {
        const assembly = built().assemblies[name];
        const { LoadBalancerAttributes } = only(assembly, 'AWS::ElasticLoadBalancingV2::LoadBalancer');
        const { Value: seconds } = LoadBalancerAttributes.find(
          ({ Key }: { Key: string }) => Key === 'idle_timeout.timeout_seconds',
        );
        const yaml = containerOf(assembly).Environment.find(({ Name }) => Name === 'LOGBOOM_CONFIG_YAML')!;
        const { config } = parseConfig(String(yaml.Value), { name, environment: {} });
        expect(config.server.idleTimeoutMs).toBeGreaterThan(Number(seconds) * 1000);
        expect(Number(seconds) * 1000).toBeGreaterThan(TAIL_KEEP_ALIVE_MS);
      }
    });

    test('keeps its containers: two or more, checked, rolled back, with time to stop', () => {
      for (const [name, tasks] of [
        ['service', 2],
        ['direct', 3],
      ] as const) {
        const assembly = built().assemblies[name];
        const { DeploymentConfiguration, DesiredCount } = only(assembly, 'AWS::ECS::Service');
        expect(DesiredCount).toBe(tasks);
        expect(DeploymentConfiguration).toMatchObject({
          DeploymentCircuitBreaker: { Enable: true, Rollback: true },
          MinimumHealthyPercent: 100,
        });
        expect(only(assembly, 'AWS::ApplicationAutoScaling::ScalableTarget')).toMatchObject({
          MinCapacity: tasks,
          MaxCapacity: 10 * tasks,
        });
        for (const [, group] of assembly.ofType('AWS::ElasticLoadBalancingV2::TargetGroup'))
          expect(group.Properties.HealthCheckPath).toBe('/ready');
        const { Cpu, Memory, RuntimePlatform } = only(assembly, 'AWS::ECS::TaskDefinition');
        expect([Cpu, Memory]).toEqual([`${TASK.cpu}`, `${TASK.memoryMb}`]);
        expect(RuntimePlatform.CpuArchitecture).toBe('ARM64');
        expect(containerOf(assembly)).toMatchObject({ User: 'node', StopTimeout: 60 });
        // Docker is not needed: the image is public.
        expect(containerOf(assembly).Image).toMatch(/^public\.ecr\.aws\/docker\/library\/node:24/);
      }
    });

    test('fits a task definition: 64 KiB', () => {
      expect(JSON.stringify(containerOf(built().assemblies.service)).length).toBeLessThan(32_768);
    });

    test('has alarms for late, failed and missing answers', () => {
      const { service } = built().assemblies;
      const names = service.ofType('AWS::CloudWatch::Alarm').map(([id]) => id);
      for (const name of ['WriteSlow', 'WriteErrors', 'WriteUnhealthy'])
        expect(names.some(id => id.includes(name))).toBe(true);
    });

    test('may push, check tokens, and read its program', () => {
      const { service } = built().assemblies;
      const policies = service
        .ofType('AWS::IAM::Policy')
        .filter(([, { Properties }]) => idIn(Properties.Roles[0]).startsWith('WriteRole'));
      expect(policies).toHaveLength(1);
      const statements = policies[0][1].Properties.PolicyDocument.Statement as {
        readonly Action: string | readonly string[];
        readonly Resource: unknown;
        readonly Condition?: Record<string, Record<string, readonly string[]>>;
      }[];
      const keysOf = (action: string) =>
        statements.find(({ Action }) => [Action].flat().includes(action))?.Condition?.[
          'ForAllValues:StringLike'
        ]['dynamodb:LeadingKeys'];
      expect(keysOf('dynamodb:GetItem')).toEqual(patternsOf(WRITE_SERVICE_TOKEN_RIGHTS.readItems!));
      expect(keysOf('dynamodb:PutItem')).toEqual(patternsOf(WRITE_SERVICE_TOKEN_RIGHTS.putItems!));
      const actions = statements.flatMap(({ Action }) => Action);
      expect(actions.filter(action => action.includes('*'))).toEqual([]);
      expect(statements.map(({ Resource }) => Resource)).not.toContain('*');
      expect(JSON.stringify(statements)).toMatch(/s3:::.*cdk-hnb659fds-assets.*[0-9a-f]{64}\.zip"/);
    });
  });

  describe('a container of the write service', () => {
    let services: FakeServices;
    let api: Server;
    let credentials: Server;
    let child: ChildProcess;
    let url: string;
    let token: string;

    /** Token that the function of the stack creates in the table. */
    async function firstToken(): Promise<string> {
      const bundle = join(built().folder, 'bundles', 'first-token', 'index.js');
      const invoked = spawn(process.execPath, [INVOKE, bundle], { env: ofStores(), stdio: 'pipe' });
      invoked.stdin.end('[{}]');
      const [result] = JSON.parse(await text(invoked.stdout)) as { token: string }[];
      services.accesses.length = 0;
      return result.token;
    }

    const ofStores = () => ({
      AWS_REGION: 'eu-central-1',
      AWS_ACCESS_KEY_ID: 'none',
      AWS_SECRET_ACCESS_KEY: 'none',
      LOGBOOM_BUCKET: 'chunks',
      LOGBOOM_TABLE: 'catalog',
      LOGBOOM_ENDPOINT: services.url,
    });
    beforeAll(async () => {
      services = await startFakeServices();
      const folder = join(built().folder, 'bundles', 'program');
      const files = readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter(one => one.isFile())
        .map(({ parentPath, name }) => join(parentPath, name))
        .map(file => [relative(folder, file), readFileSync(file)] as const);
      services.objects.set(`/assets/${PROGRAM}`, Buffer.from(zipSync(Object.fromEntries(files))));
      token = await firstToken();
      credentials = createServer((_, response) => {
        response.end(JSON.stringify({ AccessKeyId: 'key', SecretAccessKey: 'secret', Token: 'session' }));
      });
      await new Promise<void>(resolve => credentials.listen(0, '127.0.0.1', resolve));
      // Stands for the APIs, whose names only a deployment knows.
      api = createServer(({ method, url: asked, headers }, response) => {
        response.end(JSON.stringify({ method, asked, authorization: headers.authorization }));
      });
      await new Promise<void>(resolve => api.listen(0, '127.0.0.1', resolve));
      const { Command, Environment } = containerOf(built().assemblies.direct);
      const given = Environment.filter(({ Value }) => typeof Value === 'string');
      child = spawn(process.execPath, Command.slice(1), {
        env: {
          ...Object.fromEntries(given.map(({ Name, Value }) => [Name, String(Value)])),
          ...ofStores(),
          TMPDIR: built().folder,
          AWS_CONTAINER_CREDENTIALS_FULL_URI: `http://127.0.0.1:${(credentials.address() as AddressInfo).port}/`,
          LOGBOOM_PROGRAM_URL: `${services.url}/assets/${PROGRAM}`,
          LOGBOOM_REGION: 'eu-central-1',
          LOGBOOM_FORWARD_TO: `http://127.0.0.1:${(api.address() as AddressInfo).port}`,
          LOGBOOM_PORT: '0',
        },
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      for await (const line of createInterface({ input: child.stdout! })) {
        const found = /^Logboom listens on \S+?:(\d+)\b/.exec(line)?.[1];
        if (found === undefined) continue;
        url = `http://127.0.0.1:${found}`;
        child.stdout!.resume();
        return;
      }
      throw new Error('the container ended');
    }, 120_000);
    afterAll(async () => {
      if (child?.exitCode === null) child.kill('SIGKILL');
      credentials?.close();
      api?.closeAllConnections();
      api?.close();
      await services?.close();
    });

    test('forwards everything but pushes, with its token, and serves the page', async () => {
      const client = createClient(url);
      const asked = '/loki/api/v1/labels?since=1h';
      const authorization = `Bearer ${token}`;
      const answer = await client.send({ path: asked, headers: { authorization } });
      expect(answer.json()).toEqual({ method: 'GET', asked, authorization });
      const page = await client.send({ path: '/ui/' });
      expect([page.status, page.headers['content-type']]).toEqual([
        200,
        expect.stringMatching(/^text\/html/),
      ]);
      client.close();
    });

    test('fetches the program, stores pushes, and stops well, with its rights', async () => {
      const client = createClient(url);
      const body = jsonPush([
        { labels: { app: 'shop' }, entries: [{ ns: BigInt(Date.now()) * 1_000_000n, line: 'x'.repeat(99) }] },
      ]);
      const push = (authorization: string) =>
        client.send({
          method: 'POST',
          path: '/loki/api/v1/push',
          headers: { 'content-type': JSON_TYPE, 'x-scope-orgid': 'acme', authorization },
          body,
        });
      expect((await client.send({ path: '/ready' })).status).toBe(200);
      const other = token.endsWith('x') ? 'y' : 'x';
      expect((await push(`Bearer ${token.slice(0, -1)}${other}`)).status).toBe(401);
      const answers = await Promise.all(Array.from({ length: 5 }, () => push(`Bearer ${token}`)));
      expect(answers.map(({ status }) => status)).toEqual([204, 204, 204, 204, 204]);
      client.close();
      const exited = new Promise(resolve => child.on('exit', resolve));
      child.kill('SIGTERM');
      expect(await exited).toBe(0);
      const accesses = services.accesses.filter(({ of }) => of !== PROGRAM);
      expect(accesses.length).toBeGreaterThan(5);
      expect(notAllowed(accesses, WRITE_SERVICE_TOKEN_RIGHTS)).toEqual([]);
    });
  });
}
