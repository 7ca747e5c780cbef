/** V8 moves shared memory word by word, so the body of a push, which is in shared memory, is copied otherwise. */
import { afterEach, expect, jest, test } from '@jest/globals';
import { DEFAULT_LIMITS } from '../../shared/base/model/limits.ts';
import { atOnce } from '../../shared/base/model/steps.ts';
import { detectLevels } from '../../shared/write/ingest/detected-levels.ts';
import { decodeJsonPush } from '../../shared/write/ingest/json-push.ts';

const LINES = 200;

afterEach(() => {
  jest.restoreAllMocks();
});

function sharedBody(): Buffer {
  const values = Array.from({ length: LINES }, (_, i) => [
    `17000000000000${10_000 + i}`,
    `level=warn n=${i}`,
  ]);
  const text = JSON.stringify({ streams: [{ stream: { app: 'a' }, values }] });
  const body = Buffer.from(new SharedArrayBuffer(Buffer.byteLength(text)));
  body.write(text);
  return body;
}

test('no whole body moves through a copy of shared memory that V8 makes', () => {
  const copies = jest.spyOn(Object.getPrototypeOf(Uint8Array.prototype), 'set') as jest.SpiedFunction<
    (source: ArrayLike<number>) => void
  >;
  const body = sharedBody();
  const columns = atOnce(decodeJsonPush(body));
  const entries = Uint32Array.from({ length: columns.count }, (_, i) => i);
  const { levelOf, levels } = atOnce(detectLevels(columns, entries, DEFAULT_LIMITS));
  expect(columns.count).toBe(LINES);
  expect(columns.bytes.buffer).toBe(body.buffer);
  expect(levels[levelOf[LINES - 1] - 1]).toBe('warn');
  const shared = copies.mock.calls.filter(([source], i) =>
    [source, copies.mock.contexts[i]].some(
      view => ArrayBuffer.isView(view) && view.buffer instanceof SharedArrayBuffer,
    ),
  );
  expect(shared).toHaveLength(0);
});
