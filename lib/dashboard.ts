/** Dashboard: first what clients notice, then its causes, then backlogs. */
import { Duration } from 'aws-cdk-lib';
import { Dashboard, GraphWidget, type IMetric, type Metric } from 'aws-cdk-lib/aws-cloudwatch';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import { figure, serverErrors } from './alarms.ts';

interface DashboardProps {
  readonly functions: Readonly<Record<string, LambdaFunction>>;
  readonly queues: readonly Queue[];
  readonly table: ITable;
  readonly apiId: string;
  readonly canary: LambdaFunction | undefined;
}

const PERIOD = Duration.minutes(5);
/** Width of a widget: two per row. */
const WIDTH = 12;

export function createDashboard(scope: Construct, props: DashboardProps): Dashboard {
  const { functions, queues, table, apiId, canary } = props;
  const { push, query, worker, maintenance } = functions;
  const ofEach = (metricOf: (lambda: LambdaFunction) => Metric) =>
    Object.entries(functions).map(([label, lambda]) => metricOf(lambda).with({ label }));
  const graphs: [title: string, left: IMetric[]][] = [
    [
      'Duration of pushes (ms)',
      ['p50', 'p99'].map(statistic => push.metricDuration({ period: PERIOD, statistic, label: statistic })),
    ],
    [
      'Duration of queries (ms)',
      ['p50', 'p99'].map(statistic => query.metricDuration({ period: PERIOD, statistic, label: statistic })),
    ],
    ['Calls', [push, query, worker].map(lambda => lambda.metricInvocations({ period: PERIOD }))],
    ['Requests with 5xx (%)', [serverErrors(apiId)]],
    ['Failed invocations', ofEach(lambda => lambda.metricErrors({ period: PERIOD }))],
    ['Throttled invocations', ofEach(lambda => lambda.metricThrottles({ period: PERIOD }))],
    ['Age of the backlog (s)', [figure(maintenance, 'BacklogAge', 'Maximum', PERIOD)]],
    ['Backlog', ['BacklogDays', 'BacklogGarbage'].map(name => figure(maintenance, name, 'Maximum', PERIOD))],
    [
      'Failed invocations in queues',
      queues.map(queue => queue.metricApproximateNumberOfMessagesVisible({ period: PERIOD })),
    ],
    [
      'Capacity units of the table',
      [
        table.metricConsumedReadCapacityUnits({ period: PERIOD }),
        table.metricConsumedWriteCapacityUnits({ period: PERIOD }),
      ],
    ],
  ];
  if (canary !== undefined) {
    graphs.unshift(
      ['Canary', [figure(canary, 'CanarySuccess', 'Minimum', PERIOD)]],
      [
        'Duration of the canary (ms)',
        ['CanaryPush', 'CanaryRead'].map(name => figure(canary, name, 'Maximum', PERIOD)),
      ],
    );
  }
  const dashboard = new Dashboard(scope, 'Dashboard', { defaultInterval: Duration.hours(6) });
  for (let i = 0; i < graphs.length; i += 2) {
    dashboard.addWidgets(
      ...graphs.slice(i, i + 2).map(([title, left]) => new GraphWidget({ title, left, width: WIDTH })),
    );
  }
  return dashboard;
}
