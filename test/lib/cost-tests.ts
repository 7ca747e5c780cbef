/** What the model of the cost takes for granted of the template. */
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
}
