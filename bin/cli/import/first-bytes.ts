/** Peeks at the first bytes of an input without consuming them. */

interface PeekedInput {
  /** Undefined if the input is empty. */
  readonly first: Buffer | undefined;
  /** The whole input, to be read once. */
  readonly all: AsyncGenerator<Buffer>;
}

/** @param bytes minimum length of the first bytes, unless the input is shorter */
export async function peek(input: AsyncIterable<Buffer>, bytes = 1): Promise<PeekedInput> {
  const pieces = input[Symbol.asyncIterator]();
  let first: Buffer | undefined;
  while (first === undefined || first.length < bytes) {
    const got = await pieces.next();
    if (got.done) break;
    if (got.value.length === 0) continue;
    first = first === undefined ? got.value : Buffer.concat([first, got.value]);
  }
  return { first, all: withRest(first, pieces) };
}

async function* withRest(first: Buffer | undefined, pieces: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  try {
    if (first === undefined) return;
    yield first;
    for (let got = await pieces.next(); !got.done; got = await pieces.next()) yield got.value;
  } finally {
    await pieces.return?.();
  }
}
