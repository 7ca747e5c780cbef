/** The configuration of a store that is started without one; beside the sources, and beside the compiled modules too. */
import { fileURLToPath } from 'node:url';

export const DEFAULT_CONFIG_FILE = fileURLToPath(new URL('../config/local.yaml', import.meta.url));
