/** Assumptions of the cost model about the template. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { CANARY, STARTS } from '../../bench/model/figures.ts';
import { DEFAULT_STACK, idleMonth, sumOf } from '../../bench/model/idle.ts';
import { WATCHED } from '../../bench/model/page/idle-and-watched.ts';
import { reservationsOf } from '../../lib/concurrency.ts';
import { DEFAULT_CONFIG } from '../../shared/server/admin/config-fields.ts';
import { type Built, functionOfId, idIn } from './build.ts';

const page = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'reference', 'aws.md'), 'utf8');

export function costTests(built: () => Built): void {
  test('an idle stack costs only its scheduled calls, below $0.50 a month', () => {
    const { default: assembly } = built().assemblies;
    const schedules = assembly.ofType('AWS::Scheduler::Schedule').map(([, { Properties }]) => {
      const lambda = assembly.resources[idIn(Properties.Target.Arn)];
      const [, minutes] = /^rate\((\d+) minutes?\)$/.exec(Properties.ScheduleExpression)!;
      return { everyMinutes: Number(minutes), memoryMb: lambda.Properties.MemorySize };
    });
    expect(schedules).toEqual([DEFAULT_STACK.timer]);
    const [, { Properties: maintenance }] = assembly
      .ofType('AWS::Lambda::Function')
      .find(([id]) => functionOfId(id) === 'maintenance')!;
    expect(maintenance.MemorySize).toBe(DEFAULT_STACK.jobMemoryMb);
    expect(sumOf(idleMonth({ ...DEFAULT_STACK, timer: schedules[0] }))).toBeLessThan(0.5);
    const paid = [
      'CloudWatch::Alarm',
      'CloudWatch::Dashboard',
      'SecretsManager::Secret',
      'KMS::Key',
      'EC2::NatGateway',
    ];
    for (const type of paid) expect([type, assembly.ofType(`AWS::${type}`)]).toEqual([type, []]);
    for (const [, { Properties }] of assembly.ofType('AWS::Lambda::Function'))
      expect(Properties.ProvisionedConcurrencyConfig).toBeUndefined();
  });

  test('monitoring has the documented size', () => {
    expect(built().assemblies.iam.ofType('AWS::CloudWatch::Alarm')).toHaveLength(WATCHED.alarms);
    expect(built().assemblies.iam.ofType('AWS::CloudWatch::Dashboard')).toHaveLength(1);
  });

  test('docs/reference/aws.md has the shares of calls, and the size of the template', () => {
    const quota = 1000;
    const { query, worker, maintenance } = reservationsOf(
      quota,
      DEFAULT_CONFIG.logboom.maxCompactionFunctions,
    )!;
    const percent = (calls: number) => `${(100 * calls) / quota}%`;
    const left = percent(quota - query - worker - maintenance);
    const assembly = built().assemblies.iam;
    const tens = (count: number) => 10 * Math.round(count / 10);
    const routes = tens(assembly.ofType('AWS::ApiGatewayV2::Route').length);
    const resources = tens(Object.keys(assembly.resources).length);
    const lines = [
      `caps the query function at ${percent(query)} of it, the function for parts of queries at ${percent(worker)}`,
      `and maintenance at ${percent(maintenance)}, so that ${left} and more are always there for pushes`,
      `about ${routes} routes of 300, about ${resources} resources of 500`,
    ];
    const text = page.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll(/\s+/g, ' ');
    expect(lines.filter(line => !text.includes(line))).toEqual([]);
  });

  test('the cost of the canary follows from its schedule', () => {
    const { iam } = built().assemblies;
    const [, lambda] = iam.ofType('AWS::Lambda::Function').find(([id]) => functionOfId(id) === 'canary')!;
    expect(lambda.Properties.MemorySize).toBe(CANARY.memoryMb);
    const rates = iam.ofType('AWS::Scheduler::Schedule').map(([, one]) => one.Properties.ScheduleExpression);
    expect(rates).toContain(`rate(${CANARY.everyMinutes} minutes)`);
  });

  test('docs/reference/aws.md has memory and time of every function, with its reason', () => {
    const [, rest] = page.split('| function | memory | time | serves | why so much |\n');
    const rows = rest.split('\n\n')[0].split('\n');
    const { token, default: plain, url } = built().assemblies;
    // Functions for the stack's own resources. They run when it is deployed or deleted.
    const others = ['bucket-content', 'page-content'];
    for (const assembly of [plain, token, url]) {
      for (const [id, { Properties }] of assembly.ofType('AWS::Lambda::Function')) {
        const name = functionOfId(id);
        if (others.includes(name)) continue;
        const short = name.replace(/^tail-(?=disconnect|default)/, '-');
        const row = rows.find(line =>
          line
            .split('|')[1]
            .split(',')
            .some(one => one.trim() === short),
        );
        expect([name, row]).toEqual([
          name,
          expect.stringContaining(Properties.MemorySize.toLocaleString('en-US')),
        ]);
        expect([name, STARTS.find(start => start.name === name)?.memoryMb]).toEqual([
          name,
          Properties.MemorySize,
        ]);
        const { Timeout } = Properties;
        const time = Timeout < 60 ? `${Timeout} s` : `${Timeout / 60} min`;
        expect([name, String(row).split('|')[3].trim()]).toEqual([name, time]);
        expect(String(row).split('|')[5].trim()).not.toBe('');
      }
    }
  });
}
