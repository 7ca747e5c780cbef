/** Folders of the program. CommonJS, so that a command starts without Node's loader of ES modules (bin/logboom.cjs). */
const { existsSync } = require('node:fs');
const { join } = require('node:path');

/** Folder of the project, with a slash at its end. */
exports.ROOT = join(__dirname, '..', '/');

/**
 * Folder of compiled code: in the checkout, else in the user's folder, where no other user can place code.
 */
exports.cacheFolder = () => {
  if (existsSync(join(exports.ROOT, 'package-lock.json')))
    return join(exports.ROOT, 'node_modules', '.cache', 'logboom');
  return join(process.env.XDG_CACHE_HOME || join(require('node:os').homedir(), '.cache'), 'logboom');
};
