/**
 * Does the work of Lambda's runtime for Node.js in a separate process: loads the handler `_HANDLER` from the
 * folder `LAMBDA_TASK_ROOT`, then takes one event after the other from the runtime API and returns its result.
 *
 * Source of the protocol: "Using the Lambda runtime API for custom runtimes" of the Lambda Developer Guide.
 */
import { createRequire } from 'node:module';
import { join } from 'node:path';

const api = `http://${process.env.AWS_LAMBDA_RUNTIME_API}/2018-06-01/runtime`;
const [file, name] = process.env._HANDLER.split('.');

let handler;
try {
  // Lambda requires a module in CommonJS.
  handler = createRequire(import.meta.url)(join(process.env.LAMBDA_TASK_ROOT, `${file}.js`))[name];
} catch (error) {
  await post('init/error', errorOf(error));
  process.exit(1);
}
for (;;) {
  const next = await fetch(`${api}/invocation/next`);
  const id = next.headers.get('lambda-runtime-aws-request-id');
  const deadlineMs = Number(next.headers.get('lambda-runtime-deadline-ms'));
  const context = {
    awsRequestId: id,
    functionName: process.env.AWS_LAMBDA_FUNCTION_NAME,
    invokedFunctionArn: next.headers.get('lambda-runtime-invoked-function-arn'),
    memoryLimitInMB: process.env.AWS_LAMBDA_FUNCTION_MEMORY_SIZE,
    getRemainingTimeInMillis: () => deadlineMs - Date.now(),
  };
  try {
    const result = await handler(await next.json(), context);
    await post(`invocation/${id}/response`, result ?? null);
  } catch (error) {
    await post(`invocation/${id}/error`, errorOf(error));
  }
}

async function post(path, value) {
  const body = JSON.stringify(value);
  await (await fetch(`${api}/${path}`, { method: 'POST', body })).arrayBuffer();
}

function errorOf(error) {
  return {
    errorType: error?.name ?? 'Error',
    errorMessage: String(error?.message ?? error),
    trace: [error?.stack],
  };
}
