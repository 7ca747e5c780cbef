/**
 * Stack in the emulator, as its clients see it.
 *
 * Pitfall: outputs of the stack contain addresses of AWS. Here each API is reached at the address of the
 * emulator, the HTTP API by its name in the header, the WebSocket API by its path. The template gives functions
 * the address to which they post messages of tails. So the emulator replaces it, again after each deployment.
 */
import { readFileSync } from 'node:fs';
import {
  GetFunctionConfigurationCommand,
  InvokeCommand,
  LambdaClient,
  UpdateFunctionConfigurationCommand,
} from '@aws-sdk/client-lambda';
import {
  type ClientAnswer,
  type ClientRequest,
  createClient,
  type HttpClient,
} from '../../end-to-end/support/client.ts';
import { resourcesOf, type StackResource, startsOf, targetOf } from './emulator-api.ts';
import { functionOf, runInShell } from './printed.ts';

const CONNECTIONS_ENDPOINT = 'LOGBOOM_CONNECTIONS_ENDPOINT';

interface Outputs {
  readonly BaseUrl: string;
  readonly PushUrl: string;
  readonly FirstTokenCommand: string;
  readonly CurlPush: string;
  readonly CurlQuery: string;
  readonly MaintenanceFunction: string;
  readonly TailUrl: string;
  readonly BucketName: string;
  readonly TableName: string;
}

export class DeployedStack {
  readonly outputs: Outputs;
  readonly resources: readonly StackResource[];
  readonly lambda: LambdaClient;
  readonly #emulator: string;
  readonly #client: HttpClient;

  private constructor(emulator: string, outputs: Outputs, resources: readonly StackResource[]) {
    this.#emulator = emulator;
    this.outputs = outputs;
    this.resources = resources;
    this.lambda = new LambdaClient({ endpoint: emulator, region: 'us-east-1' });
    this.#client = createClient(emulator);
  }

  /** @param outputsFile what `cdk deploy --outputs-file` wrote */
  static async open(emulator: string, stackName: string, outputsFile: string): Promise<DeployedStack> {
    const all = JSON.parse(readFileSync(outputsFile, 'utf8')) as Record<string, Outputs>;
    const stack = new DeployedStack(emulator, all[stackName], await resourcesOf(emulator, stackName));
    await stack.#pointTailsHere();
    return stack;
  }

  close(): void {
    this.#client.close();
    this.lambda.destroy();
  }

  send(request: ClientRequest): Promise<ClientAnswer> {
    return this.#client.send({ ...request, headers: { ...request.headers, host: this.#apiHost } });
  }

  get #apiHost(): string {
    const api = new URL(this.outputs.PushUrl).hostname.split('.')[0];
    return `${api}.execute-api.localhost:${new URL(this.#emulator).port}`;
  }

  /** Runs a printed command as it is, but for the addresses, which the emulator has elsewhere. What it printed. */
  async runPrinted(command: string, token: string): Promise<string> {
    const { BaseUrl, PushUrl } = this.outputs;
    const here = command
      .replaceAll(PushUrl, `http://${this.#apiHost}`)
      .replaceAll(BaseUrl, `http://${this.#apiHost}`);
    return runInShell(here, token);
  }

  /** Does what the printed command does, without the AWS command line. */
  async firstToken(): Promise<{ token?: string; error?: string }> {
    return (await this.#invoke(functionOf(this.outputs.FirstTokenCommand), {})) as {
      token?: string;
      error?: string;
    };
  }

  /** A job, as the timer calls it. */
  runJob(job: string): Promise<unknown> {
    return this.#invoke(this.outputs.MaintenanceFunction, { job });
  }

  /** Sends a request to CloudFront, as if by HTTPS. The emulator cannot reach the APIs by their names. */
  sendToEdge(request: ClientRequest): Promise<ClientAnswer> {
    const { hostname } = new URL(this.outputs.BaseUrl);
    const headers = { ...request.headers, host: hostname, 'x-forwarded-proto': 'https' };
    return this.#client.send({ ...request, headers });
  }

  /** URL of the WebSocket API. */
  get tailUrl(): string {
    return this.#tailEndpoint.replace('http:', 'ws:');
  }

  get #tailEndpoint(): string {
    const { hostname, pathname } = new URL(this.outputs.TailUrl);
    return `${this.#emulator}/_aws/execute-api/${hostname.split('.')[0]}${pathname}`;
  }

  /** Physical id of the one resource of this type whose logical id begins so. */
  idOf(type: string, prefix: string): string {
    const found = this.resources.filter(one => one.type === type && one.logicalId.startsWith(prefix));
    if (found.length !== 1) throw new Error(`${found.length} resources of ${type} begin with ${prefix}`);
    return found[0].physicalId;
  }

  /** Number of calls of the function whose logical ID starts with `prefix`. */
  calls(prefix: string): Promise<number> {
    return startsOf(this.#emulator, this.idOf('AWS::Logs::LogGroup', prefix));
  }

  /** Calls what the schedule calls, with what it calls it. */
  async tick(prefix: string): Promise<unknown> {
    const { arn, input } = await targetOf(this.#emulator, this.idOf('AWS::Scheduler::Schedule', prefix));
    return this.#invoke(arn, JSON.parse(input) as object);
  }

  async #invoke(name: string, event: object): Promise<unknown> {
    const { Payload, FunctionError } = await this.lambda.send(
      new InvokeCommand({ FunctionName: name, Payload: Buffer.from(JSON.stringify(event)) }),
    );
    const answer: unknown = JSON.parse(Buffer.from(Payload ?? []).toString());
    if (FunctionError !== undefined) throw new Error(`${name}: ${JSON.stringify(answer)}`);
    return answer;
  }

  async #pointTailsHere(): Promise<void> {
    for (const { type, physicalId } of this.resources) {
      if (type !== 'AWS::Lambda::Function') continue;
      const name = { FunctionName: physicalId };
      const { Environment } = await this.lambda.send(new GetFunctionConfigurationCommand(name));
      const variables = Environment?.Variables ?? {};
      if (variables[CONNECTIONS_ENDPOINT] === undefined) continue;
      const here = { Variables: { ...variables, [CONNECTIONS_ENDPOINT]: this.#tailEndpoint } };
      await this.lambda.send(new UpdateFunctionConfigurationCommand({ ...name, Environment: here }));
    }
  }
}
