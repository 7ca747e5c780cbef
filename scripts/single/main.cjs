/** The first of a single executable: what bin/logboom.mjs is elsewhere. */
const { getAsset } = require('node:sea');
const { setFlagsFromString } = require('node:v8');
const { runInThisContext } = require('node:vm');

const [shown] = process.listeners('warning');
process.removeAllListeners('warning');
process.on('warning', warning => {
  if (warning.name !== 'ExperimentalWarning') shown?.call(process, warning);
});
const load = runInThisContext(getAsset('load.cjs', 'utf8'))(require);
load('./logboom.cjs');
// After it: code is compiled with the same flags in all commands, and is taken from the cache. The store itself is loaded later.
if (process.argv[2] === 'start')
  for (const flag of JSON.parse(getAsset('flags.json', 'utf8'))) setFlagsFromString(flag);
