/**
 * What a function is told by its environment:
 *
 *     LOGBOOM_BUCKET, LOGBOOM_TABLE   where the data lies
 *     LOGBOOM_ENDPOINT                another place than AWS, for emulators; AWS_ENDPOINT_URL counts too
 *     LOGBOOM_TAIL_FUNCTION           the dispatcher of live tails, where there is one
 *     LOGBOOM_QUERY_WORKER            the function that works on parts of queries, where there is one
 *     LOGBOOM_QUERY_WORKER_CALLS      its calls at once, of one process of the query function; what the stack has reserved
 *     LOGBOOM_AUTHORIZATION           `token`: an authorizer in front says whose token it is, and who comes without is refused;
 *                                     `own-token`: there is none in front, the function asks for tokens itself;
 *                                     `iam`, `none` or nothing: something else in front says who may call
 *     LOGBOOM_CONFIG_YAML             the configuration itself, or
 *     LOGBOOM_CONFIG                  its file, in the bundle
 */
import { readFileSync } from 'node:fs';
import { maxDecompressedBytes, parseConfig } from '../shared/server/admin/config.ts';
import { type Config, DEFAULT_CONFIG } from '../shared/server/admin/config-fields.ts';
import { MAX_BODY_BYTES } from './event-adapter.ts';

export interface Settings {
  readonly bucket: string;
  readonly table: string;
  readonly endpoint: string | undefined;
  /** Name of the function that serves live tails, for those that call it. */
  readonly tailFunction?: string | undefined;
  /** Name of the function that works on parts of queries, for the one that hands them out. */
  readonly queryWorker?: string | undefined;
  /** Its calls at once; undefined: the default. */
  readonly queryWorkerCalls?: number | undefined;
  /** Who comes without a word of the authorizer is refused. */
  readonly trustsAuthorizer?: boolean | undefined;
  /** With the limits of the platform. */
  readonly config: Config;
  /** Ready to be logged. */
  readonly warnings: readonly string[];
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** A push is decoded beside its columns and its chunk, all in the memory of one function. */
export const MAX_DECOMPRESSED_BYTES = 128 * 1024 * 1024;

/**
 * Of a flush that a client waits for: the merge that begins last has 3 s to the deadline of its answer (deadline.ts). Runs
 * by schedule have the time of the function instead (scheduled-event.ts).
 */
export const MAX_REQUEST_RUN_MS = 25_000;

/** Throws ConfigError, or Error where a name is missing. */
export function readSettings(environment: Environment): Settings {
  const { config, warnings } = readConfig(environment);
  const authorization = environment.LOGBOOM_AUTHORIZATION;
  const isByToken = asksForTokens(authorization);
  const trustsAuthorizer = authorization === 'token';
  return {
    bucket: named('LOGBOOM_BUCKET', environment),
    table: named('LOGBOOM_TABLE', environment),
    endpoint: environment.LOGBOOM_ENDPOINT || environment.AWS_ENDPOINT_URL || undefined,
    tailFunction: environment.LOGBOOM_TAIL_FUNCTION || undefined,
    queryWorker: environment.LOGBOOM_QUERY_WORKER || undefined,
    queryWorkerCalls: callsOf(environment.LOGBOOM_QUERY_WORKER_CALLS),
    trustsAuthorizer,
    config: withinPlatform(isByToken ? withTokens(config) : config),
    warnings,
  };
}

function callsOf(text: string | undefined): number | undefined {
  if (!text) return undefined;
  const calls = Number(text);
  if (Number.isInteger(calls) && calls >= 1) return calls;
  throw new Error(`LOGBOOM_QUERY_WORKER_CALLS is a whole number of at least 1, not ${JSON.stringify(text)}`);
}

function readConfig(environment: Environment): { config: Config; warnings: readonly string[] } {
  const { LOGBOOM_CONFIG_YAML: yaml, LOGBOOM_CONFIG: file } = environment;
  if (yaml) return parseConfig(yaml, { name: 'LOGBOOM_CONFIG_YAML', environment });
  if (file) return parseConfig(readFileSync(file, 'utf8'), { name: file, environment });
  return { config: DEFAULT_CONFIG, warnings: [] };
}

/** A word that is none of these could be meant for `token`: better not to start than to let everybody in. */
function asksForTokens(authorization: string | undefined): boolean {
  if (authorization === 'token' || authorization === 'own-token') return true;
  if (!authorization || authorization === 'iam' || authorization === 'none') return false;
  throw new Error(
    `LOGBOOM_AUTHORIZATION is iam, none, token or own-token, not ${JSON.stringify(authorization)}`,
  );
}

function withTokens(config: Config): Config {
  return { ...config, access: { ...config.access, tokensEnabled: true } };
}

function named(name: string, environment: Environment): string {
  const value = environment[name];
  if (!value) throw new Error(`the environment variable ${name} is not set`);
  return value;
}

/** The configuration with what Lambda allows: it may ask for less, never for more. */
export function withinPlatform(config: Config): Config {
  const { distributor, frontend, logboom } = config;
  return {
    ...config,
    distributor: {
      maxRecvMsgSize: Math.min(distributor.maxRecvMsgSize, MAX_BODY_BYTES),
      maxDecompressedSize: Math.min(maxDecompressedBytes(config), MAX_DECOMPRESSED_BYTES),
    },
    frontend: { ...frontend, maxBodySize: Math.min(frontend.maxBodySize, MAX_BODY_BYTES) },
    // A function serves one request at a time: there is no company to wait for.
    logboom: {
      ...logboom,
      groupCommitWaitMs: 0,
      maintenanceRunMs: Math.min(logboom.maintenanceRunMs, MAX_REQUEST_RUN_MS),
    },
  };
}
