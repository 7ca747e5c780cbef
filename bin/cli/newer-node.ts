/**
 * The Node.js of the packages, for what the user's own lacks. An older one runs the commands that talk to a store (CLIENT_COMMANDS in
 * bin/needed-node.cjs), and bin/logboom.cjs then says how to get the newer one.
 */

interface NewerNode {
  /** Path of its executable. */
  path(): Promise<string>;
  /** Runs this command line in it, and exits with its status. */
  run(): Promise<void>;
}

function newerNode(): NewerNode | undefined {
  return (globalThis as Record<symbol, unknown>)[Symbol.for('logboom.newerNode')] as NewerNode | undefined;
}

/** True if this Node.js runs only the commands that talk to a store. */
export function isOlderNode(): boolean {
  return newerNode() !== undefined;
}

/** Returns if this Node.js is new enough for all commands. Pitfall: call it before anything is read or written. */
export async function needNewerNode(): Promise<void> {
  const newer = newerNode();
  if (newer === undefined) return;
  await newer.run();
  // This process only waits.
  await new Promise<never>(() => {});
}

/** Path of the newer Node.js, which may be fetched first; undefined if this one is new enough for all commands. */
export async function newerNodePath(): Promise<string | undefined> {
  return newerNode()?.path();
}
