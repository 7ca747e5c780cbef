/**
 * Runs first in a container of the write service, in an image that has only Node.js: fetches the program from
 * the bucket of the deployment, unpacks it, and becomes it. Arguments are the flags of Node.js for the program.
 * Bundled into the command of the container (service-code.ts).
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { unzipSync } from 'fflate';
import { signedHeaders } from '../functions/sign-request.ts';
import type { AwsCredentials } from '../shared/aws/service-endpoint.ts';

/** Address of credentials in a container, unless the environment has a complete one. */
const CREDENTIALS_HOST = 'http://169.254.170.2';

const {
  AWS_REGION: region = '',
  AWS_CONTAINER_CREDENTIALS_FULL_URI: credentialsUrl,
  AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: credentialsPath,
  LOGBOOM_PROGRAM_URL: programUrl = '',
} = process.env;

const program = await download(new URL(programUrl));
const folder = join(tmpdir(), 'logboom');
for (const [name, content] of Object.entries(unzipSync(program))) {
  if (name.endsWith('/')) continue;
  const file = join(folder, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
}
const main = join(folder, 'logboom.cjs');
process.execve!(process.execPath, [process.execPath, ...process.argv.slice(1), main, 'start'], process.env);

async function download(url: URL): Promise<Uint8Array> {
  const headers = signedHeaders(
    {
      method: 'GET',
      path: url.pathname,
      host: url.host,
      body: '',
      service: 's3',
      region,
      nowMs: Date.now(),
    },
    await credentials(),
  );
  const response = await fetch(url, { headers });
  if (!response.ok) throw new Error(`the program cannot be read: status ${response.status} of ${url}`);
  return new Uint8Array(await response.arrayBuffer());
}

async function credentials(): Promise<AwsCredentials> {
  const response = await fetch(credentialsUrl ?? `${CREDENTIALS_HOST}${credentialsPath}`);
  if (!response.ok) throw new Error(`no credentials: status ${response.status}`);
  const { AccessKeyId, SecretAccessKey, Token } = (await response.json()) as Record<string, string>;
  return { accessKeyId: AccessKeyId, secretAccessKey: SecretAccessKey, sessionToken: Token };
}
