/**
 * Runs a function of the template as Lambda does: its synthesized bundle in processes behind the runtime API,
 * with the environment of the template, one event at a time each, and another process if all are busy.
 *
 * Limits of Lambda apply: 6 MB for event and result, the timeout of the function (its process is killed), and
 * the number of processes. Not covered: memory is only measured, processors are not limited, and nothing runs
 * on arm64.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import type { Json } from './template.ts';

/** Limit of a synchronous invocation, for request and response each. */
const MAX_PAYLOAD_BYTES = 6 * 1024 * 1024;
/** Limit of an asynchronous invocation (256 KB until 2025). */
const MAX_EVENT_BYTES = 1024 * 1024;
const BOOTSTRAP = join(import.meta.dirname, 'bootstrap.mjs');

interface FunctionSettings {
  /** The logical id. */
  readonly id: string;
  readonly name: string;
  readonly arn: string;
  /** The folder of its asset. */
  readonly code: string;
  readonly handler: string;
  readonly timeoutMs: number;
  readonly memoryMb: number;
  readonly environment: Readonly<Record<string, string>>;
  /** Maximum number of concurrent processes. */
  readonly maxInstances: number;
}

export type Invocation =
  | { readonly result: Json }
  /** The handler threw, or the function ended without an answer. */
  | { readonly functionError: Json }
  | { readonly refused: 'throttled' | 'too large' };

interface Waiting {
  readonly event: Buffer;
  resolve(invocation: Invocation): void;
}

interface Instance {
  readonly process: ChildProcess;
  /** An answer to its question for the next event, held back until there is one. */
  idle: ServerResponse | undefined;
  busy: { readonly id: string; readonly waiting: Waiting; readonly timer: NodeJS.Timeout } | undefined;
}

export class LambdaFunction {
  readonly settings: FunctionSettings;
  /** Figures for the report of the run. */
  peakRssBytes = 0;
  invocations = 0;
  readonly #server: Server;
  readonly #instances = new Map<string, Instance>();
  readonly #queue: Waiting[] = [];
  #closed = false;
  readonly #output: string[] = [];

  private constructor(settings: FunctionSettings) {
    this.settings = settings;
    this.#server = createServer((request, response) => {
      this.#serve(request, response).catch(error => response.destroy(error));
    });
  }

  static async open(settings: FunctionSettings): Promise<LambdaFunction> {
    const opened = new LambdaFunction(settings);
    await new Promise<void>(resolve => opened.#server.listen(0, '127.0.0.1', resolve));
    return opened;
  }

  /** Like `Invoke` of Lambda. `Event` resolves when the event is accepted, and its result is discarded. */
  async invoke(event: Json, type: 'RequestResponse' | 'Event' = 'RequestResponse'): Promise<Invocation> {
    if (this.#closed) return { refused: 'throttled' };
    const bytes = Buffer.from(JSON.stringify(event));
    if (bytes.length > (type === 'Event' ? MAX_EVENT_BYTES : MAX_PAYLOAD_BYTES))
      return { refused: 'too large' };
    const done = new Promise<Invocation>(resolve => {
      this.#queue.push({ event: bytes, resolve });
    });
    this.#pump();
    const said = done.then(invocation => this.#sayFailure(invocation));
    if (type === 'Event') return { result: null };
    return said;
  }

  /** The last lines that its processes wrote. */
  get lastOutput(): string {
    return this.#output.join('').slice(-1_500);
  }

  /** All that its processes wrote since the start, a line each, up to a bound. */
  get lines(): string[] {
    return this.#output.join('').split('\n');
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const { process } of this.#instances.values()) process.kill('SIGKILL');
    this.#server.closeAllConnections();
    await new Promise<void>(resolve => this.#server.close(() => resolve()));
  }

  /** Prints the failure to the output of the test. In an account, it is in CloudWatch. */
  #sayFailure(invocation: Invocation): Invocation {
    if ('functionError' in invocation && !this.#closed)
      process.stderr.write(
        `${this.settings.id} failed: ${JSON.stringify(invocation.functionError).slice(0, 2_000)}\n`,
      );
    return invocation;
  }

  #pump(): void {
    while (this.#queue.length > 0) {
      const free = [...this.#instances.values()].find(({ idle }) => idle !== undefined);
      if (free === undefined) break;
      this.#give(free, this.#queue.shift()!);
    }
    const starting = [...this.#instances.values()].filter(
      one => one.idle === undefined && one.busy === undefined,
    );
    if (this.#queue.length > starting.length && this.#instances.size < this.settings.maxInstances)
      this.#start();
  }

  #give(instance: Instance, waiting: Waiting): void {
    const id = randomUUID();
    const { timeoutMs, arn, id: name } = this.settings;
    this.invocations++;
    const timer = setTimeout(() => {
      instance.busy = undefined;
      waiting.resolve({
        functionError: { errorMessage: `Task timed out after ${timeoutMs / 1000} seconds` },
      });
      instance.process.kill('SIGKILL');
    }, timeoutMs);
    const response = instance.idle!;
    instance.idle = undefined;
    instance.busy = { id, waiting, timer };
    response.writeHead(200, {
      'content-type': 'application/json',
      'lambda-runtime-aws-request-id': id,
      'lambda-runtime-deadline-ms': `${Date.now() + timeoutMs}`,
      'lambda-runtime-invoked-function-arn': arn,
      'lambda-runtime-trace-id': `Root=1-0-0;Parent=${name}`,
    });
    response.end(waiting.event);
  }

  #start(): void {
    const { settings } = this;
    const key = randomUUID();
    const { port } = this.#server.address() as AddressInfo;
    const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', BOOTSTRAP], {
      stdio: ['ignore', 'pipe', 'pipe'],
      // Inherits nothing from this process: a function has the variables of the template and of Lambda.
      env: {
        ...settings.environment,
        PATH: process.env.PATH,
        TZ: ':UTC',
        _HANDLER: settings.handler,
        LAMBDA_TASK_ROOT: settings.code,
        AWS_LAMBDA_RUNTIME_API: `127.0.0.1:${port}/${key}`,
        AWS_LAMBDA_FUNCTION_NAME: settings.name,
        AWS_LAMBDA_FUNCTION_MEMORY_SIZE: `${settings.memoryMb}`,
        AWS_LAMBDA_LOG_STREAM_NAME: `assembly/[$LATEST]${key}`,
      },
    });
    const instance: Instance = { process: child, idle: undefined, busy: undefined };
    this.#instances.set(key, instance);
    for (const stream of [child.stdout!, child.stderr!]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        this.#output.push(text);
        if (this.#output.length > 10_000) this.#output.shift();
      });
    }
    child.once('exit', () => {
      this.#instances.delete(key);
      const { busy } = instance;
      if (busy !== undefined) {
        clearTimeout(busy.timer);
        busy.waiting.resolve({ functionError: { errorMessage: `${settings.id} ended: ${this.lastOutput}` } });
      } else if (instance.idle === undefined && this.#queue.length > 0 && !this.#closed) {
        // It never asked for work: the start failed, and the next one would too.
        const message = `${settings.id} does not start: ${this.lastOutput}`;
        this.#queue.shift()!.resolve({ functionError: { errorMessage: message } });
      }
      if (!this.#closed) this.#pump();
    });
  }

  /** The runtime API; the key of the instance comes before its paths. */
  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [, key, , , ...path] = String(request.url).split('/');
    const instance = this.#instances.get(key);
    if (instance === undefined) return void response.destroy();
    this.#measure(instance);
    if (path[0] === 'invocation' && path[1] === 'next') {
      instance.idle = response;
      return this.#pump();
    }
    const body = await buffer(request);
    response.writeHead(202).end('{}');
    if (path[0] === 'init') {
      this.#output.push(body.toString());
      return;
    }
    const { busy } = instance;
    if (busy === undefined || busy.id !== path[1]) return;
    instance.busy = undefined;
    clearTimeout(busy.timer);
    if (path[2] === 'error') return busy.waiting.resolve({ functionError: JSON.parse(body.toString()) });
    if (body.length <= MAX_PAYLOAD_BYTES)
      return busy.waiting.resolve({ result: JSON.parse(body.toString()) });
    const message = `Response payload size exceeded maximum allowed payload size (${body.length})`;
    busy.waiting.resolve({
      functionError: { errorType: 'Function.ResponseSizeTooLarge', errorMessage: message },
    });
  }

  #measure({ process: { pid } }: Instance): void {
    try {
      const peak = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
      this.peakRssBytes = Math.max(this.peakRssBytes, Number(peak ?? 0) * 1024);
    } catch {
      // No such place on this system, or the process is gone.
    }
  }
}
