/**
 * `npm run deploy:localstack`: deploys the stack with the CDK into a LocalStack on this machine. `npm run
 * deploy:localstack -- --destroy` deletes it. Further arguments go to the CDK. For what to expect and what
 * was run there, see docs/reference/aws.md.
 *
 * Pitfall: the user's AWS credentials are removed from the environment, so that nothing can reach an account,
 * whatever the endpoint is.
 */
import { say } from '../bin/installed.mjs';
import { runCdk } from './run-cdk.mjs';

const HOST = 'localhost.localstack.cloud:4566';
const ENDPOINT = process.env.AWS_ENDPOINT_URL || `http://${HOST}`;
const REGION = process.env.AWS_REGION || 'us-east-1';
/** Default account of LocalStack. */
const ACCOUNT = '000000000000';
const HEALTH_TIMEOUT_MS = 5000;
/**
 * Settings of lib/settings.ts: everything may be deleted, and only this machine can call. CloudFront and the
 * canary need AWS host names.
 */
const SETTINGS = {
  // The free plan has neither HTTP APIs nor a Scheduler that starts anything.
  endpoint: 'function-url',
  authorization: 'none',
  public: 'yes-really',
  removal: 'destroy',
  edge: 'no',
  canary: 'no',
};

const args = process.argv.slice(2);
process.exitCode = (await isThere()) ? deployOrDestroy() : 1;

async function isThere() {
  const signal = AbortSignal.timeout(HEALTH_TIMEOUT_MS);
  const answer = await fetch(`${ENDPOINT}/_localstack/health`, { signal }).catch(() => undefined);
  if (answer?.ok) return true;
  say(`no LocalStack answers at ${ENDPOINT}. Start it (localstack start), or name it by AWS_ENDPOINT_URL.`);
  return false;
}

function deployOrDestroy() {
  for (const name of Object.keys(process.env)) if (name.startsWith('AWS_')) delete process.env[name];
  Object.assign(process.env, {
    AWS_ENDPOINT_URL: ENDPOINT,
    // The CDK prepends the bucket name to the host.
    ...(ENDPOINT.endsWith(HOST) ? { AWS_ENDPOINT_URL_S3: ENDPOINT.replace(HOST, `s3.${HOST}`) } : {}),
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
    AWS_REGION: REGION,
  });
  const context = Object.entries(SETTINGS).flatMap(([name, value]) => ['--context', `${name}=${value}`]);
  const others = args.filter(arg => arg !== '--destroy');
  const common = [...context, '--no-notices', ...others];
  if (args.includes('--destroy')) return runCdk(['destroy', '--force', ...common]);
  const status = runCdk(['bootstrap', `aws://${ACCOUNT}/${REGION}`, ...common]);
  return status === 0 ? runCdk(['deploy', '--require-approval', 'never', ...common]) : status;
}
