/**
 * Time limit of a test file. A thread prints the file's name and kills the process that runs the file, also during an endless
 * loop. Jest counts the file as failed, and runs the next one in a new process. Without a limit, a file that hangs while it is
 * imported has none: jest limits tests only.
 */
import { Worker } from 'node:worker_threads';

/** A bound, not a measure: the longest file takes two minutes. */
export const MAX_FILE_MS = 12 * 60_000;

const THREAD = `
const { readFileSync, readdirSync, writeSync } = require('node:fs');
const { parentPort } = require('node:worker_threads');
let timer;
parentPort.on('message', ({ file, ms }) => {
  clearTimeout(timer);
  if (file !== undefined) timer = setTimeout(end, ms, file, ms);
});
function end(file, ms) {
  // A separate thread prints it, because the main thread may be in a loop.
  writeSync(2, 'FAILED  ' + file + ': did not end within ' + ms / 60_000 + ' minutes\\n');
  for (const child of children()) killed(child);
  killed(process.pid);
}
/** Processes that the file started; only Linux lists them. */
function children() {
  try {
    const threads = readdirSync('/proc/self/task');
    const text = threads.map(thread => readFileSync('/proc/self/task/' + thread + '/children', 'utf8')).join(' ');
    return text.split(/\\s+/).filter(Boolean).map(Number);
  } catch {
    return [];
  }
}
function killed(pid) {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It ended in the meantime.
  }
}
`;
/** Started with the first file of this process. */
let thread;

/** Starts the time of a file, and ends that of the one before; `undefined` only ends it. */
export function limitFile(file, ms = MAX_FILE_MS) {
  if (thread === undefined) {
    thread = new Worker(THREAD, { eval: true, execArgv: [] });
    thread.unref();
  }
  thread.postMessage({ file, ms });
}
