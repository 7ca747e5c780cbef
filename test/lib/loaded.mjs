/**
 * Starts a function in a separate process, as Lambda would, and reports the loaded modules: `node loaded.mjs
 * MODULE`, events as a JSON list on standard input. Prints the loaded files next to the function, and whether
 * Node's HTTP client for `fetch` was loaded, in a line after `loaded: `. Then waits until it is killed.
 */
import { createRequire } from 'node:module';
import { basename, dirname } from 'node:path';
import { text } from 'node:stream/consumers';

const [, , module] = process.argv;
const require = createRequire(import.meta.url);
const { handler } = require(module);
const statuses = [];
for (const event of JSON.parse(await text(process.stdin))) {
  const result = await handler(event, { awsRequestId: 'started', getRemainingTimeInMillis: () => 29_000 });
  statuses.push(result?.statusCode);
}
const files = Object.keys(require.cache)
  .filter(file => dirname(file) === dirname(module) && file !== module)
  .map(file => basename(file))
  // Files that the module shares with its parts.
  .filter(file => !file.startsWith('shared-'))
  .sort();
const usesFetch = process.moduleLoadList.includes('NativeModule internal/deps/undici/undici');
process.stdout.write(`\nloaded: ${JSON.stringify({ statuses, files, usesFetch })}\n`);
// The caller ends this process.
setInterval(() => undefined, 60_000);
