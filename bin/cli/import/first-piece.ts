/** Peeks at the first bytes of an input without consuming them. */

interface Peeked {
  /** Undefined if the input is empty. */
  readonly first: Buffer | undefined;
  /** The whole input, to be read once. */
  readonly all: AsyncGenerator<Buffer>;
}

export async function peek(input: AsyncIterable<Buffer>): Promise<Peeked> {
  const pieces = input[Symbol.asyncIterator]();
  let got = await pieces.next();
  while (!got.done && got.value.length === 0) got = await pieces.next();
  const first = got.done ? undefined : got.value;
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
