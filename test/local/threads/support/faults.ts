/**
 * Faults of threads, made by the requests that they work on: a fault is text in a header, or in a query that is sent to other threads
 * in parts. Each fault has a file, which says that it has begun.
 *
 *     fault!exits!/folder/a!      ends the thread, once
 *     fault!fills!/folder/a!      fills its heap, once
 *     fault!overfills!/folder/a!  fills its heap each time
 *     fault!hangs!/folder/a!      keeps it busy forever, once
 *     fault!holds!/folder/a!      keeps it busy until the file `a.go` is there
 */
import { existsSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

export const FAULT_HEADER = 'x-test-fault';

export type Fault = 'exits' | 'fills' | 'overfills' | 'hangs' | 'holds';

export function faultText(fault: Fault, file: string): string {
  return `fault!${fault}!${file}!`;
}

/** Resolves when the fault has begun. */
export async function begun(file: string): Promise<void> {
  while (!existsSync(file)) await sleep(5);
}

/** Ends `holds`. */
export function release(file: string): void {
  writeFileSync(`${file}.go`, '');
}

/** Makes the first fault that the text names. Called in the thread. */
export function makeFault(text: string): void {
  const found = /fault!(\w+)!([^!]+)!/.exec(text);
  if (found === null) return;
  const [, fault, file] = found;
  const isAgain = existsSync(file);
  writeFileSync(file, '');
  if (fault === 'holds') {
    const never = new Int32Array(new SharedArrayBuffer(4));
    while (!existsSync(`${file}.go`)) Atomics.wait(never, 0, 0, 2);
  }
  if (fault === 'overfills' || (fault === 'fills' && !isAgain)) {
    const kept: unknown[] = [];
    for (;;) kept.push(new Array(1_000_000).fill(kept.length));
  }
  if (isAgain) return;
  if (fault === 'exits') process.exit(3);
  if (fault === 'hangs') for (;;);
}
