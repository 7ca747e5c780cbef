/** Waits for what other processes and threads do, and no promise announces. */
const PAUSE_MS = 20;
/** At least two minutes. A condition that never becomes true then fails its test instead of blocking the run. */
const MAX_CHECKS = 6_000;

/** Repeats `check` until its result is neither `undefined` nor `false`, and resolves to it. */
export async function until<T>(check: () => T | Promise<T>): Promise<Exclude<T, undefined | false>> {
  for (let checks = 0; checks < MAX_CHECKS; checks++) {
    const result = await check();
    if (result !== undefined && result !== false) return result as Exclude<T, undefined | false>;
    await new Promise(resolve => setTimeout(resolve, PAUSE_MS));
  }
  throw new Error(`no result after ${MAX_CHECKS} checks: ${check}`);
}
