import type { FileHandle } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { writeWhole } from '../../local/file-object-writer.ts';

test('all bytes are written once and in order, however few the system takes at a time', async () => {
  const parts = fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(parts, fc.integer({ min: 1, max: 60 }), async (parts, most) => {
      const written: number[] = [];
      const file: Pick<FileHandle, 'writev'> = {
        async writev(buffers) {
          const bytes = Buffer.concat(buffers as readonly Uint8Array[]).subarray(0, most);
          written.push(...bytes);
          return { bytesWritten: bytes.length, buffers };
        },
      };
      await writeWhole(file, parts);
      expect(written).toEqual([...Buffer.concat(parts)]);
    }),
  );
});
