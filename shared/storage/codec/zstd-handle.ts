/**
 * The handle behind a zstd stream of node:zlib. It is not a documented interface: it is given only where it looks exactly
 * as the pinned runtime's does, and who uses it holds a trial first and has the public call to fall back on.
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
  /** What is left of output and input after a write that succeeded; one that fails leaves it as it is. */
  readonly state: Uint32Array;
}

/** No write leaves it: where it stays, the write failed. */
export const FAILED = 0xffff_ffff;

/** Undefined where the runtime is another one. The stream must not be used beside its handle. */
export function handleOf(stream: ZstdCompress | ZstdDecompress): ZstdHandle | undefined {
  const { _handle: handle, _writeState: state } = stream as unknown as {
    _handle?: unknown;
    _writeState?: unknown;
  };
  if (!isHandle(handle) || !isState(state)) return undefined;
  // The write's own state tells of a failure, at once; this event comes later and must not end the process.
  stream.on('error', () => {});
  return { handle, state };
}

/** By its name: under jest arrays of the system are of another realm. */
function isState(value: unknown): value is Uint32Array {
  return (
    Object.prototype.toString.call(value) === '[object Uint32Array]' && (value as Uint32Array).length === 2
  );
}

function isHandle(value: unknown): value is Handle {
  const handle = value as Partial<Handle> | null | undefined;
  return typeof handle?.reset === 'function' && typeof handle.writeSync === 'function';
}
