/** What the first front thread and the others send each other. */
import type { ConnectionInfo, PostOutcome } from '../../shared/base/ports/connections.ts';
import type { TailRequest } from '../../shared/read/tail/tail-service.ts';
import type { FrontTell, PlainRequest, RoleAsk, RoleData } from './role-messages.ts';
import type { SharedPushes } from './shared-pushes.ts';

/** What a further front thread is started with. */
export interface FrontData
  extends Pick<
    RoleData,
    'config' | 'storage' | 'isAlone' | 'kernels' | 'isDebug' | 'isDiskFull' | 'readOnly'
  > {
  /** From 1 on. */
  readonly index: number;
  /** Front threads of the process. */
  readonly fronts: number;
  /** Ingest threads of each front at most. */
  readonly ingestThreads: number;
  /** What pushes of all ingest threads hold. */
  readonly pushes: SharedPushes;
  readonly host: string;
  readonly port: number;
}

export type FrontCall =
  /** To its sockets. Answered with `outcome`. */
  | Extract<RoleAsk, { kind: 'post' }>
  /** Answered with `info`. */
  | Extract<RoleAsk, { kind: 'connection' }>
  | Extract<RoleAsk, { kind: 'close' }>
  /** The thread that served its tails was lost. */
  | { readonly kind: 'end-tails' }
  /** Answered with `text`: its own and those of its ingest threads. */
  | { readonly kind: 'metrics' }
  | { readonly kind: 'write-usage' };

export interface FrontAnswer {
  readonly outcome?: PostOutcome;
  readonly info?: ConnectionInfo | undefined;
  readonly text?: string;
}

/** What a further front asks the first one: all that its ingest threads ask, and what it does not serve by itself. */
export type FrontAsk =
  | RoleAsk
  /** Answered with a Response: of every request that is no push. */
  | { readonly kind: 'request'; readonly request: PlainRequest }
  /** Answered with why the tail cannot be served, or undefined. */
  | { readonly kind: 'open-tail'; readonly connectionId: string; readonly request: TailRequest }
  | { readonly kind: 'close-tail'; readonly connectionId: string; readonly tenant: string };

/** For it and for its ingest threads. */
export type ToldFront = Extract<FrontTell, { kind: 'forget' | 'log-level' | 'disk' }>;
