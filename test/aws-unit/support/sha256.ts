/** Hash of the SDK's signer. */
import { createHash, createHmac } from 'node:crypto';

export class Sha256 {
  readonly #hash;
  constructor(key?: string | ArrayBuffer | ArrayBufferView) {
    const bytes = key instanceof ArrayBuffer ? Buffer.from(key) : (key as string | Uint8Array | undefined);
    this.#hash = bytes === undefined ? createHash('sha256') : createHmac('sha256', bytes);
  }
  update(data: string | ArrayBuffer | ArrayBufferView) {
    this.#hash.update(data instanceof ArrayBuffer ? Buffer.from(data) : (data as string | Uint8Array));
  }
  async digest() {
    return new Uint8Array(this.#hash.digest());
  }
  reset() {}
}
