/**
 * Handle behind a zstd stream of node:zlib. It is not a documented interface, and is returned only if it has
 * the same form as in the pinned runtime. Callers run a trial first and fall back to the public call.
 */
import type { ZstdCompress, ZstdDecompress } from 'node:zlib';

interface Handle {
  reset(): void;
  writeSync(
    flush: number,
    input: Uint8Array,
    inputStart: number,
    inputLength: number,
    output: Uint8Array,
    outputStart: number,
    outputLength: number,
  ): void;
}

export interface ZstdHandle {
  readonly handle: Handle;
  /** Remaining output and input after a successful write; a failed write does not change it. */
  readonly state: Uint32Array;
}

/** Value that no successful write leaves: if it remains, the write failed. */
export const FAILED = 0xffff_ffff;

/** Returns the handle, or undefined if the runtime differs. Do not use the stream directly afterward. */
export function handleOf(stream: ZstdCompress | ZstdDecompress): ZstdHandle | undefined {
  const { _handle: handle, _writeState: state } = stream as unknown as {
    _handle?: unknown;
    _writeState?: unknown;
  };
  if (!isHandle(handle) || !isState(state)) return undefined;
  // The write's state reports a failure immediately. This event comes later and must not end the process.
  stream.on('error', () => {});
  return { handle, state };
}

/** Checks the name, because system arrays come from another realm under jest. */
function isState(value: unknown): value is Uint32Array {
  return (
    Object.prototype.toString.call(value) === '[object Uint32Array]' && (value as Uint32Array).length === 2
  );
}

function isHandle(value: unknown): value is Handle {
  const handle = value as Partial<Handle> | null | undefined;
  return typeof handle?.reset === 'function' && typeof handle.writeSync === 'function';
}
