/**
 * Packages outside of a function's bundle. Most are files next to it, which are read and compiled on first
 * use, so that a start without them costs nothing. The importing code does not change.
 *
 * Pitfall: a module that uses such a package during its evaluation loads it at each start.
 * test/lib/bundle-tests.ts asserts which packages a first request loads.
 */
import type { Plugin, PluginBuild } from 'esbuild';

/** Packages in separate files, each with the reason why most starts do not need it. */
export const PACKAGES_APART: readonly string[] = [
  // Configuration schemas: the default configuration needs none.
  'zod',
  // Configuration files and rule files.
  'yaml',
  // Regular expressions.
  're2js',
  // Parquet responses, if a client requests them.
  'hyparquet-writer',
  // Listings, and endpoints and credentials that are not in the environment.
  '@aws-sdk/client-s3',
  '@aws-sdk/client-dynamodb',
  // Calls of other functions.
  '@aws-sdk/client-lambda',
  // Posts to live tails.
  '@aws-sdk/client-apigatewaymanagementapi',
  // Lines of the log.
  'pino',
  // Log writing threads: functions write their logs directly.
  'thread-stream',
  // Tracing of prom-client, which is never enabled.
  '@opentelemetry/api',
];

/** Packages that no function uses: credentials are in the environment, where the SDK looks first. */
const PACKAGES_LEFT_OUT: readonly string[] = [
  '@aws-sdk/credential-provider-ini',
  '@aws-sdk/credential-provider-process',
  '@aws-sdk/credential-provider-sso',
  '@aws-sdk/credential-provider-web-identity',
];

/** Parts of prom-client that the program does not use: summaries, pushing to a gateway, metrics of a cluster. */
const METRICS_LEFT_OUT = /^\.\/lib\/(summary|pushgateway|cluster)$/;

const APART = 'package-apart';
const LEFT_OUT = 'package-left-out';
const UNUSED = 'package-unused';

/** File name of a package next to the functions that use it. */
export function fileOfPackage(name: string): string {
  return `${name.replace('@', '').replace('/', '-')}.js`;
}

/** Entry points of the packages, for the same build as the functions. */
export function packageEntries(): { in: string; out: string }[] {
  return PACKAGES_APART.map(name => ({ in: name, out: fileOfPackage(name).replace(/\.js$/, '') }));
}

/** Replaces imports of the packages with modules that load their files on first use. */
export const PACKAGES_APART_PLUGIN: Plugin = {
  name: 'packages-apart',
  setup(build: PluginBuild) {
    build.onResolve({ filter: anyOf(PACKAGES_APART) }, ({ path, kind }) =>
      // The file of a package contains the package itself.
      kind === 'entry-point' ? undefined : { path, namespace: APART },
    );
    build.onResolve({ filter: /^\.\//, namespace: APART }, ({ path }) => ({ path, external: true }));
    build.onLoad({ filter: /.*/, namespace: APART }, ({ path }) => ({ contents: loaderOf(path) }));
    build.onResolve({ filter: METRICS_LEFT_OUT }, ({ path, importer }) =>
      importer.endsWith('/prom-client/index.js') ? { path, namespace: UNUSED } : undefined,
    );
    build.onLoad({ filter: /.*/, namespace: UNUSED }, () => ({ contents: '' }));
    build.onResolve({ filter: anyOf(PACKAGES_LEFT_OUT) }, ({ path }) => ({ path, namespace: LEFT_OUT }));
    build.onLoad({ filter: /.*/, namespace: LEFT_OUT }, ({ path }) => ({
      contents: `throw new Error('a function has no ${path}: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY');`,
    }));
  },
};

function anyOf(names: readonly string[]): RegExp {
  return new RegExp(`^(?:${names.join('|')})$`);
}

/**
 * Module whose values load on access. esbuild gives importers an object with the prototype of the module, so
 * the prototype answers for every name.
 */
function loaderOf(name: string): string {
  return `
    let all;
    const values = { get: (_, name) => (all ??= require('./${fileOfPackage(name)}'))[name] };
    module.exports = { __proto__: new Proxy({}, values), __esModule: true };`;
}
