/**
 * Memory of large responses that another thread sends. It is shared, so no message is needed to release it: the sender marks it as free.
 * In separate memory, each response would be counted by V8, which then marks the whole heap for every second one: a quarter of the CPU
 * time of an export.
 *
 *     state | padding | bytes of the response
 *     int32             from HEAD_BYTES on
 */
import { addPool } from './buffer-pool.ts';

const HEAD_BYTES = 64;
const [FREE, IN_USE] = [0, 1];
/** Memory that was not released for so long is forgotten: the request failed before its response was sent. */
const LOST_MS = 10 * 60_000;
/** Sizes are multiples of it, so that responses of similar sizes use the same memory. */
const SIZE_STEP = 4 * 1024 * 1024;

interface SharedBody {
  readonly memory: SharedArrayBuffer;
  takenMs: number;
}

/** Lives as long as its thread. */
export class SharedBodies {
  readonly #maxBytes: number;
  readonly #nowMs: () => number;
  #bodies: SharedBody[] = [];

  /** @param maxBytes of all memory, in use and free */
  constructor(maxBytes: number, nowMs: () => number = () => performance.now()) {
    this.#maxBytes = maxBytes;
    this.#nowMs = nowMs;
    addPool(this);
  }

  /** Total size of unused memory, in bytes. */
  get heldBytes(): number {
    return sizeOf(this.#bodies.filter(isFree));
  }

  /** Forgets all unused memory, which the garbage collectors of the threads then free. */
  clear(): void {
    this.#bodies = this.#bodies.filter(body => !isFree(body));
  }

  /** Returns memory with any content, which `releaseBody` releases; `undefined` if too much is in use. */
  take(bytes: number): Buffer | undefined {
    const nowMs = this.#nowMs();
    this.#bodies = this.#bodies.filter(body => isFree(body) || nowMs - body.takenMs < LOST_MS);
    const size = Math.ceil((HEAD_BYTES + bytes) / SIZE_STEP) * SIZE_STEP;
    let body = this.#bodies.find(each => isFree(each) && each.memory.byteLength >= size);
    if (body === undefined) {
      // Smaller memory is replaced by larger memory, which serves all.
      if (sizeOf(this.#bodies) + size > this.#maxBytes) this.clear();
      if (sizeOf(this.#bodies) + size > this.#maxBytes) return undefined;
      body = { memory: new SharedArrayBuffer(size), takenMs: nowMs };
      this.#bodies.push(body);
    }
    body.takenMs = nowMs;
    Atomics.store(stateOf(body.memory), 0, IN_USE);
    return Buffer.from(body.memory, HEAD_BYTES, bytes);
  }
}

/** Releases the memory of a body that `take` returned, in any thread. Nothing may read it any more. */
export function releaseBody({ buffer }: Uint8Array): void {
  Atomics.store(stateOf(buffer), 0, FREE);
}

function isFree({ memory }: SharedBody): boolean {
  return Atomics.load(stateOf(memory), 0) === FREE;
}

function stateOf(memory: ArrayBufferLike): Int32Array {
  return new Int32Array(memory, 0, 1);
}

function sizeOf(bodies: readonly SharedBody[]): number {
  return bodies.reduce((sum, { memory }) => sum + memory.byteLength, 0);
}
