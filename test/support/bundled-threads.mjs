/**
 * Threads of stores that a test starts run the bundle of TEST_PROGRAM: for tests of `node --test`, what jest.config.mjs maps for those
 * of jest. From the sources, each thread would compile 800 modules, which takes seconds of CPU time.
 */
import { registerHooks } from 'node:module';

const PROGRAM = new URL('program.ts', import.meta.url).href;

registerHooks({
  resolve: (specifier, context, next) =>
    next(specifier.endsWith('/thread-entry.ts') ? PROGRAM : specifier, context),
});
