/** Standard output that waits for a slow reader, ends quietly with one that leaves (`| head`), and knows colours. */
import { once } from 'node:events';
import { styleText } from 'node:util';
import type { Paint } from './answer-text.ts';

/** To be called before the first write. */
export function endWithReader(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0);
    throw error;
  });
}

export async function print(text: string): Promise<void> {
  if (!process.stdout.write(text)) await once(process.stdout, 'drain');
}

/** Colours where standard output is a terminal that has them; NO_COLOR and FORCE_COLOR are respected. */
export const OUTPUT_PAINT: Paint = {
  time: text => styleText('blue', text, { stream: process.stdout }),
  labels: text => styleText('cyan', text, { stream: process.stdout }),
};
