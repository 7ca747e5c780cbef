/** Messages between the first front thread and the others. */
import type { ConnectionInfo, PostOutcome } from '../../shared/base/ports/connections.ts';
import type { TailRequest } from '../../shared/read/tail/tail-service.ts';
import type { SharedRecentQueries } from './recent-queries.ts';
import type { FrontTell, PlainRequest, RoleAsk, RoleData } from './role-messages.ts';
import type { SharedPushes } from './shared-pushes.ts';

/** Start data of a further front thread. */
export interface FrontData
  extends Pick<
    RoleData,
    'config' | 'storage' | 'isAlone' | 'tailed' | 'kernels' | 'isDebug' | 'isDiskFull' | 'readOnly'
  > {
  /** Index, starting at 1. */
  readonly index: number;
  /** Number of front threads of the process. */
  readonly fronts: number;
  /** Maximum number of ingest threads per front. */
  readonly ingestThreads: number;
  /** Memory of pushes in all ingest threads. */
  readonly pushes: SharedPushes;
  /** Recent queries of all tenants. */
  readonly recentQueries: SharedRecentQueries;
  readonly host: string;
  readonly port: number;
}

export type FrontCall =
  /** Message to sockets of this front. The reply is `outcome`. */
  | Extract<RoleAsk, { kind: 'post' }>
  /** The reply is `info`. */
  | Extract<RoleAsk, { kind: 'connection' }>
  | Extract<RoleAsk, { kind: 'close' }>
  /** The thread that served the tails was lost. */
  | { readonly kind: 'end-tails' }
  /** The reply is `text`: metrics of the front and of its ingest threads. */
  | { readonly kind: 'metrics' }
  | { readonly kind: 'write-usage' };

export interface FrontAnswer {
  readonly outcome?: PostOutcome;
  readonly info?: ConnectionInfo | undefined;
  readonly text?: string;
}

/**
 * Requests of a further front to the first one: those of its ingest threads, and requests that it does not
 * serve itself.
 */
export type FrontAsk =
  | RoleAsk
  /** Any request except a push. The reply is a Response. */
  | { readonly kind: 'request'; readonly request: PlainRequest }
  /** The reply is the reason why the tail cannot be served, or `undefined`. */
  | { readonly kind: 'open-tail'; readonly connectionId: string; readonly request: TailRequest }
  | { readonly kind: 'close-tail'; readonly connectionId: string; readonly tenant: string };

/** Messages for a front and its ingest threads. */
export type ToldFront = Extract<FrontTell, { kind: 'forget' | 'log-level' | 'disk' }>;
