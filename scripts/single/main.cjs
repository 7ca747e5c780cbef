/** Entry of a single executable, like bin/logboom.mjs elsewhere. */
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
// Set after loading: code is then compiled with equal flags in all commands, and comes from the cache. The
// store itself loads later.
if (process.argv[2] === 'start')
  for (const flag of JSON.parse(getAsset('flags.json', 'utf8'))) setFlagsFromString(flag);
