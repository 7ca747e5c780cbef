/** Version of assembly/file-rows.ts that works row by row and on text. */
import type { FileFormat, FileRows } from '../../../shared/base/kernels/file-rows.ts';

export function fileOf(rows: FileRows, lines: Buffer, { kind, head, labels, tail }: FileFormat): Buffer {
  const written = [...rows.order].flatMap((row): (Buffer | string)[] => {
    const line = lines.subarray(rows.starts[row], rows.ends[row]);
    if (kind === 'text') return [line, '\n'];
    return [head, timeText(rows.times[row]), labels[rows.labels[row]], shown(kind, line.toString()), tail];
  });
  return Buffer.concat(written.map(each => (typeof each === 'string' ? Buffer.from(each) : each)));
}

function timeText(time: number): string {
  const seconds = Math.floor(time / 1e9);
  const parts = [seconds / 3600, (seconds / 60) % 60, seconds % 60].map(each =>
    String(Math.floor(each)).padStart(2, '0'),
  );
  return `${parts.join(':')}.${String(time % 1e9).padStart(9, '0')}`;
}

function shown(kind: 'json' | 'csv', line: string): string {
  if (kind === 'json') return JSON.stringify(line).slice(1, -1);
  return /[",\r\n]/.test(line) ? `"${line.replaceAll('"', '""')}"` : line;
}
