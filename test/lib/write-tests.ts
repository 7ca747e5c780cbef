/** The write service: its clients, its rights, and its container, which runs here as in its image. */
import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { functionOf } from '../../functions/groups.ts';
import { patternsOf, WRITE_SERVICE_TOKEN_RIGHTS } from '../../lib/rights.ts';
import { TASK } from '../../lib/write-task.ts';
import { ROUTES } from '../../shared/server/http/route-table.ts';
import { pathsOf } from '../../shared/server/http/routes.ts';
import { createClient } from '../end-to-end/support/client.ts';
import { JSON_TYPE, jsonPush } from '../end-to-end/support/push.ts';
import { notAllowed } from './allowed.ts';
import { type Assembly, type Built, idIn } from './build.ts';
import { type FakeServices, startFakeServices } from './fake-services.ts';

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

    test('serves pushes alone at its own host name, over TLS, and the API keeps its functions', () => {
      const { direct } = built().assemblies;
      const { Port, Protocol, Certificates, DefaultActions } = only(
        direct,
        'AWS::ElasticLoadBalancingV2::Listener',
      );
      expect([Port, Protocol, Certificates.length]).toEqual([443, 'HTTPS', 1]);
      expect(DefaultActions[0]).toMatchObject({
        Type: 'fixed-response',
        FixedResponseConfig: { StatusCode: '404' },
      });
      const rules = direct
        .ofType('AWS::ElasticLoadBalancingV2::ListenerRule')
        .map(([, one]) => one.Properties);
      const paths = rules.flatMap(({ Conditions }) => Conditions[0].PathPatternConfig.Values);
      expect(paths.sort()).toEqual(
        [...PUSH_PATHS.map(path => path.replace('{index}', '*')), '/ready'].sort(),
      );
      for (const { Conditions } of rules)
        expect(Conditions[0].PathPatternConfig.Values.length).toBeLessThanOrEqual(5);
      expect(ingress(direct)).toEqual([
        expect.stringMatching(/^WriteFront 443 0\.0\.0\.0\/0$/),
        expect.stringMatching(/^WriteTasks 3100 WriteFront/),
      ]);
      expect(direct.ofType('AWS::ApiGatewayV2::VpcLink')).toEqual([]);
      expect(direct.outputs.PushUrl.Value).toBe('https://push.example.com');
      expect(JSON.stringify(direct.outputs.WriteTarget.Value)).toContain('DNSName');
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
        const targets = only(assembly, 'AWS::ElasticLoadBalancingV2::TargetGroup');
        expect(targets.HealthCheckPath).toBe('/ready');
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
      const files = readdirSync(folder).map(name => [name, readFileSync(join(folder, name))] as const);
      services.objects.set(`/assets/${PROGRAM}`, Buffer.from(zipSync(Object.fromEntries(files))));
      token = await firstToken();
      credentials = createServer((_, response) => {
        response.end(JSON.stringify({ AccessKeyId: 'key', SecretAccessKey: 'secret', Token: 'session' }));
      });
      await new Promise<void>(resolve => credentials.listen(0, '127.0.0.1', resolve));
      const { Command, Environment } = containerOf(built().assemblies.service);
      const given = Environment.filter(({ Value }) => typeof Value === 'string');
      child = spawn(process.execPath, Command.slice(1), {
        env: {
          ...Object.fromEntries(given.map(({ Name, Value }) => [Name, String(Value)])),
          ...ofStores(),
          TMPDIR: built().folder,
          AWS_CONTAINER_CREDENTIALS_FULL_URI: `http://127.0.0.1:${(credentials.address() as AddressInfo).port}/`,
          LOGBOOM_PROGRAM_URL: `${services.url}/assets/${PROGRAM}`,
          LOGBOOM_REGION: 'eu-central-1',
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
      await services?.close();
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
      expect((await push(`Bearer ${token.slice(0, -1)}x`)).status).toBe(401);
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
