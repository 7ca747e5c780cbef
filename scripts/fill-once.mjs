/** Folders that are filled once, such as with an installation, and used by all runs that need the same contents. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { alone } from '../bin/installed.mjs';

/**
 * Fills a folder, unless it was already filled completely from the same inputs, such as versions. A second process waits for the
 * first.
 */
export function fillOnce(folder, inputs, fill) {
  const stamp = join(folder, '.complete');
  const wanted = JSON.stringify(inputs);
  const isComplete = () => existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted;
  if (isComplete()) return;
  alone(folder, () => {
    if (isComplete()) return;
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    fill(folder);
    writeFileSync(stamp, wanted);
  });
}
