/** Parquet files of parts that are written at the same time. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { zstdDecompressSync } from 'node:zlib';
import { expect, test } from '@jest/globals';
import { parquetReadObjects } from 'hyparquet';
import { ParquetParts } from '../../bin/cli/export/parquet-parts.ts';

/** More bytes of pages than wait to be compressed, so that the parts alternate. */
const ROWS = 300;
const LINE_BYTES = 40_000;

test('parts of another store, which are read in parallel, have their own rows', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'logboom-parts-'));
  try {
    const names = ['a', 'b', 'c'];
    const write = async (name: string) => {
      const parts = new ParquetParts({ folder, name, format: 'parquet', hiveTenant: undefined });
      const line = name.repeat(LINE_BYTES);
      const rows = Array.from({ length: ROWS }, (_, i) => ({
        timeNs: BigInt(i),
        line,
        labels: { app: name },
        metadata: {},
      }));
      await parts.addEntries(rows);
      return parts.end();
    };
    const written = await Promise.all(names.map(write));
    expect(written).toEqual(names.map(name => ({ entries: ROWS, files: [`${name}.parquet`] })));
    // The memory of a part that has ended is used again.
    await write('d');
    for (const name of [...names, 'd']) {
      const { buffer } = Uint8Array.from(readFileSync(join(folder, `${name}.parquet`)));
      const rows = await parquetReadObjects({
        file: buffer,
        columns: ['line'],
        compressors: { ZSTD: bytes => zstdDecompressSync(bytes) },
      });
      expect(rows).toHaveLength(ROWS);
      expect(rows.every(({ line }) => line === name.repeat(LINE_BYTES))).toBe(true);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});
