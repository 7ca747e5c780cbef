/** What the model of the cost takes for granted of the template. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { DEFAULT_STACK, idleMonth, sumOf } from '../../bench/model/idle.ts';
import { WATCHED } from '../../bench/model/page.ts';
import { type Built, functionOfId, idIn } from './build.ts';

export function costTests(built: () => Built): void {
  test('an idle stack costs what its schedules say, below $0.50 a month, and has nothing else that costs unused', () => {
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

  test('what watches the store is as much as the page says', () => {
    expect(built().assemblies.iam.ofType('AWS::CloudWatch::Alarm')).toHaveLength(WATCHED.alarms);
    expect(built().assemblies.iam.ofType('AWS::CloudWatch::Dashboard')).toHaveLength(1);
  });

  test('docs/aws.md has the memory of every function, with its reason', () => {
    const page = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'aws.md'), 'utf8');
    const [, rest] = page.split('| function | memory | time | serves | why so much |\n');
    const rows = rest.split('\n\n')[0].split('\n');
    const { token, default: plain, url } = built().assemblies;
    // Of the stack's own resources: they run when it is deployed or deleted.
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
        expect(String(row).split('|')[5].trim()).not.toBe('');
      }
    }
  });
}
