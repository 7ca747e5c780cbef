/**
 * Reporter for jest that ends a run in which a file has no result long after its time limit (file-limit.mjs), such as when jest lost
 * the process that runs it. It prints the names of these files. Without a report of jest, the run counts as failed.
 */
import { MAX_FILE_MS } from './file-limit.mjs';

const GRACE_MS = 60_000;

export default class StalledFiles {
  #timers = new Map();
  #maxMs;
  #end;

  constructor(_globalConfig, { maxMs = MAX_FILE_MS + GRACE_MS, end = endRun } = {}) {
    this.#maxMs = maxMs;
    this.#end = end;
  }

  onTestFileStart({ path }) {
    const timer = setTimeout(() => this.#end([...this.#timers.keys()]), this.#maxMs);
    this.#timers.set(path, timer);
  }

  onTestFileResult({ path }) {
    clearTimeout(this.#timers.get(path));
    this.#timers.delete(path);
  }
}

function endRun(files) {
  for (const file of files) process.stderr.write(`FAILED  ${file}: jest has no result of it\n`);
  process.exit(1);
}
