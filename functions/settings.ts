/**
 * Reads the settings of a function from its environment:
 *
 *     LOGBOOM_BUCKET, LOGBOOM_TABLE   bucket and table of the store
 *     LOGBOOM_ENDPOINT                endpoint of an emulator instead of AWS; AWS_ENDPOINT_URL works too
 *     LOGBOOM_TAIL_FUNCTION           dispatcher of live tails, if the stack has one
 *     LOGBOOM_QUERY_WORKER            function that runs query tasks, if the stack has one
 *     LOGBOOM_QUERY_WORKER_CALLS      maximum concurrent worker calls of one query process; the stack's reserved concurrency
 *     LOGBOOM_AUTHORIZATION           `token`: an authorizer in front identifies the token; requests without one are refused.
 *                                     `own-token`: no authorizer is in front, and the function verifies tokens itself.
 *                                     `iam`, `none` or empty: another component in front controls access
 *     LOGBOOM_CONFIG_YAML             the configuration itself, or
 *     LOGBOOM_CONFIG                  its file, in the bundle
 */

import { readFileSync } from 'node:fs';
import type { Environment } from '../shared/base/model/environment.ts';
import { maxDecompressedBytes, parseConfig } from '../shared/server/admin/config.ts';
import { type Config, DEFAULT_CONFIG } from '../shared/server/admin/config-fields.ts';
import { MAX_EVENT_BODY_BYTES } from './event-adapter.ts';

export interface FunctionSettings {
  readonly bucket: string;
  readonly table: string;
  readonly endpoint: string | undefined;
  /** Name of the function that serves live tails, for the functions that call it. */
  readonly tailFunction?: string | undefined;
  /** Name of the function that runs query tasks, for the function that plans them. */
  readonly queryWorker?: string | undefined;
  /** Maximum concurrent worker calls; `undefined` for the default. */
  readonly queryWorkerCalls?: number | undefined;
  /** If true, requests without an identity from the authorizer are refused. */
  readonly trustsAuthorizer?: boolean | undefined;
  /** Configuration limited to what the platform allows. */
  readonly config: Config;
  /** Warnings to log. */
  readonly warnings: readonly string[];
}

/**
 * Maximum decompressed size of a push. Its body, columns and chunk are in the memory of one function at the
 * same time.
 */
export const MAX_DECOMPRESSED_BYTES = 128 * 1024 * 1024;

/**
 * Maximum run time of a flush that a client waits for. The last merge starts 3 s before the deadline of the
 * response (deadline.ts). Scheduled runs use the time of the function instead (scheduled-event.ts).
 */
export const MAX_REQUEST_RUN_MS = 25_000;

/** Throws ConfigError, or Error if a required variable is missing. */
export function readSettings(environment: Environment): FunctionSettings {
  const { config, warnings } = readConfig(environment);
  const authorization = environment.LOGBOOM_AUTHORIZATION;
  const isByToken = needsTokens(authorization);
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
  throw new Error(
    `LOGBOOM_QUERY_WORKER_CALLS must be a whole number of at least 1, got ${JSON.stringify(text)}`,
  );
}

function readConfig(environment: Environment): { config: Config; warnings: readonly string[] } {
  const { LOGBOOM_CONFIG_YAML: yaml, LOGBOOM_CONFIG: file } = environment;
  if (yaml) return parseConfig(yaml, { name: 'LOGBOOM_CONFIG_YAML', environment });
  if (file) return parseConfig(readFileSync(file, 'utf8'), { name: file, environment });
  return { config: DEFAULT_CONFIG, warnings: [] };
}

/** Throws for an unknown word. It could be a misspelled `token`, and starting would admit every client. */
function needsTokens(authorization: string | undefined): boolean {
  if (authorization === 'token' || authorization === 'own-token') return true;
  if (!authorization || authorization === 'iam' || authorization === 'none') return false;
  throw new Error(
    `LOGBOOM_AUTHORIZATION must be iam, none, token or own-token, got ${JSON.stringify(authorization)}`,
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

/** Limits the configuration to what Lambda allows. Lower configured values stay. */
export function withinPlatform(config: Config): Config {
  const { distributor, frontend, logboom } = config;
  return {
    ...config,
    distributor: {
      maxRecvMsgSize: Math.min(distributor.maxRecvMsgSize, MAX_EVENT_BODY_BYTES),
      maxDecompressedSize: Math.min(maxDecompressedBytes(config), MAX_DECOMPRESSED_BYTES),
    },
    frontend: { ...frontend, maxBodySize: Math.min(frontend.maxBodySize, MAX_EVENT_BODY_BYTES) },
    // A function serves one request at a time, so no other push can join a group commit.
    logboom: {
      ...logboom,
      groupCommitWaitMs: 0,
      writeTierWaitMs: 0,
      maintenanceRunMs: Math.min(logboom.maintenanceRunMs, MAX_REQUEST_RUN_MS),
    },
  };
}
