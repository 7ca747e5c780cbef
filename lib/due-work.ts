/**
 * Function that a schedule calls each minute (functions/timer-handler.ts), with the right to call the
 * functions whose work is due. One schedule per job would make 233,000 calls a month, even without work.
 */
import { Duration } from 'aws-cdk-lib';
import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction as LambdaTarget } from 'aws-cdk-lib/aws-events-targets';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import type { TimerEvent } from '../functions/timer-handler.ts';
import { ApiFunction, type SharedFunctionProps } from './api-function.ts';
import type { FunctionClass } from './function-classes.ts';
import { TIMER_RIGHTS } from './rights.ts';
import { type FailedCalls, Timer } from './schedules.ts';
import type { Endpoint } from './settings.ts';

const TIMER_CLASS: FunctionClass = {
  description: 'Finds pending work and calls the functions for it',
  // It sends about a dozen small reads and a few calls, and mostly waits.
  memoryMb: 256,
  timeout: Duration.seconds(30),
  rights: TIMER_RIGHTS,
};

interface DueWorkProps {
  readonly code: string;
  readonly shared: SharedFunctionProps;
  readonly failed: FailedCalls;
  readonly maintenance: ApiFunction['lambda'];
  /** Undefined if there are no live tails. */
  readonly tailDispatch: ApiFunction['lambda'] | undefined;
  /** Emulators with only the function URL endpoint lack EventBridge Scheduler, but have EventBridge rules. */
  readonly endpoint: Endpoint;
}

const EVERY = Duration.minutes(1);
/** Scheduler replaces this placeholder with the scheduled time. */
const SCHEDULED_TIME: TimerEvent = { time: '<aws.scheduler.scheduled-time>' };

export class DueWork extends Construct {
  readonly lambda: ApiFunction['lambda'];

  constructor(scope: Construct, id: string, props: DueWorkProps) {
    super(scope, id);
    const { code, shared, failed, maintenance, tailDispatch, endpoint } = props;
    const { lambda } = new ApiFunction(this, 'Timer', {
      name: 'timer',
      functionClass: TIMER_CLASS,
      code,
      shared,
      environment: {
        LOGBOOM_MAINTENANCE_FUNCTION: maintenance.functionName,
        ...(tailDispatch === undefined ? {} : { LOGBOOM_TAIL_FUNCTION: tailDispatch.functionName }),
      },
    });
    const called = tailDispatch === undefined ? [maintenance] : [maintenance, tailDispatch];
    const resources = called.map(({ functionArn }) => functionArn);
    lambda.addToRolePolicy(new PolicyStatement({ actions: ['lambda:InvokeFunction'], resources }));
    // A late call processes the work that is due then.
    failed.takeFrom(lambda, EVERY);
    if (endpoint === 'function-url') this.#addRule(lambda);
    else {
      const description = 'finds pending work';
      const everyMs = EVERY.toMilliseconds();
      new Timer(this, 'Schedules', { lambda, failed }).add('Minute', {
        description,
        everyMs,
        event: SCHEDULED_TIME,
      });
    }
    this.lambda = lambda;
  }

  #addRule(lambda: ApiFunction['lambda']): void {
    new Rule(this, 'Minute', {
      description: 'Logboom: calls functions that have pending work',
      schedule: Schedule.rate(EVERY),
      // The rule's own event has the due time. LocalStack does not send an empty event.
      targets: [new LambdaTarget(lambda)],
    });
  }
}
