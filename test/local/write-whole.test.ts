import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { writeWhole } from '../../local/file-object-writer.ts';

test('all bytes are written once and in order, however few the system takes at a time', async () => {
  const parts = fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(parts, fc.integer({ min: 1, max: 60 }), async (parts, most) => {
      const written: number[] = [];
      await writeWhole(rest => {
        const bytes = Buffer.concat(rest).subarray(0, most);
        written.push(...bytes);
        return bytes.length;
      }, parts);
      expect(written).toEqual([...Buffer.concat(parts)]);
    }),
  );
});
