/**
 * Lambda function that a schedule calls every minute. Apart from the variables in settings.ts it needs the
 * functions to call:
 *
 *     LOGBOOM_MAINTENANCE_FUNCTION   runs the jobs
 *     LOGBOOM_TAIL_FUNCTION          dispatcher of live tails, if the stack has one
 */
import { InvokeCommand } from '@aws-sdk/client-lambda';
import { lambdaClient } from '../shared/aws/lambda-client.ts';
import { openAwsStorage } from '../shared/aws/storage.ts';
import { createLazyLog } from '../shared/base/runtime/log.ts';
import { SYSTEM_CLOCK, SYSTEM_IDS } from '../shared/base/runtime/system-clock.ts';
import { API_GATEWAY_OWNER } from '../shared/server/http/assemble-tail.ts';
import { maintenanceOptions } from '../shared/server/http/maintenance-options.ts';
import { Catalog } from '../shared/storage/catalog/catalog.ts';
import { schedulesOf } from '../shared/upkeep/maintenance/maintenance.ts';
import { readSettings } from './settings.ts';
import { createTimer } from './timer-handler.ts';

const CALL_TIMEOUT_MS = 5_000;

const settings = readSettings(process.env);
const { table } = openAwsStorage({ ...settings, clock: SYSTEM_CLOCK, ids: SYSTEM_IDS });
const client = lambdaClient();

function callerOf(functionName: string | undefined) {
  if (!functionName) return undefined;
  return async (event: object): Promise<void> => {
    const command = new InvokeCommand({
      FunctionName: functionName,
      InvocationType: 'Event',
      Payload: Buffer.from(JSON.stringify(event)),
    });
    await client().send(command, { abortSignal: AbortSignal.timeout(CALL_TIMEOUT_MS) });
  };
}

export const handler = createTimer({
  catalog: new Catalog({ table, clock: SYSTEM_CLOCK, ids: SYSTEM_IDS }),
  clock: SYSTEM_CLOCK,
  schedules: schedulesOf(maintenanceOptions(settings.config)),
  tailOwner: API_GATEWAY_OWNER,
  calls: {
    maintenance: callerOf(process.env.LOGBOOM_MAINTENANCE_FUNCTION),
    'tail-dispatch': callerOf(process.env.LOGBOOM_TAIL_FUNCTION),
  },
  log: createLazyLog(settings.config.server.logLevel),
});
