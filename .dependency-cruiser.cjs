/**
 * Imports point down (shared/README.md): a module imports modules that come after it in its own layer, and modules of the layers
 * below. A new module gets its place in this list. So no modules import each other, not even by different files.
 */
const LAYERS = [
  ['server', ['http', 'open-data', 'usage', 'rules', 'canary', 'auth', 'admin']],
  ['write', ['ingest']],
  ['read', ['tail', 'patterns', 'insight', 'query']],
  [
    'upkeep',
    [
      'maintenance',
      'deletion',
      'retention',
      'integrity',
      'compaction',
      'tenant-rename',
      'pattern-mining',
      'indexing',
    ],
  ],
  ['execution', ['text-index', 'fields', 'metrics', 'pipeline']],
  ['storage', ['index', 'catalog', 'chunk', 'columns', 'codec']],
  ['language', ['logql', 'regex']],
  ['base', ['text', 'scheduling', 'runtime', 'ports', 'kernels', 'model']],
];
const MODULES = LAYERS.flatMap(([layer, modules]) => modules.map(module => `${layer}/${module}`));

const ABOVE = '^(bin|lib|functions|local|bench|scripts|test)/';
module.exports = {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'shared-imports-nothing-above',
      comment: 'shared/ is the log store: it does not know processes, servers, Lambda events or CDK.',
      severity: 'error',
      from: { path: '^shared/' },
      to: { path: ABOVE },
    },
    {
      name: 'only-tools-import-scripts',
      comment: 'scripts/ are tools for developers, which import the program.',
      severity: 'error',
      from: { path: '^(bin|lib|functions|local|shared)/' },
      to: { path: '^scripts/' },
    },
    {
      name: 'functions-import-shared-alone',
      comment: 'What Lambda functions and one machine both need is in shared/.',
      severity: 'error',
      from: { path: '^functions/' },
      to: { path: '^(bin|lib|local)/' },
    },
    {
      name: 'local-imports-shared-alone',
      comment: 'The command line starts it.',
      severity: 'error',
      from: { path: '^local/' },
      to: { path: '^(bin|lib|functions)/' },
    },
    {
      name: 'bin-does-not-import-the-stack',
      comment:
        'The command line works without the packages of the CDK. The stack uses the bundler and the tuning of bin/.',
      severity: 'error',
      from: { path: '^bin/' },
      to: { path: '^(lib|functions)/' },
    },
    {
      name: 'every-module-has-a-place',
      comment: 'A module that LAYERS does not list would escape the rules below.',
      severity: 'error',
      from: {},
      to: { path: '^shared/', pathNot: `^shared/(aws|${MODULES.join('|')})/` },
    },
    ...MODULES.slice(1).map((module, index) => ({
      name: `${module.replace('/', '-')}-imports-down`,
      severity: 'error',
      from: { path: `^shared/${module}/` },
      to: { path: `^shared/(${MODULES.slice(0, index + 1).join('|')})/` },
    })),
    {
      name: 'read-engine-does-not-import-insight',
      comment: 'Insight uses the query engine; ingest, deletion and compaction do not use insight.',
      severity: 'error',
      from: { path: '^shared/(read/query|upkeep|write)/' },
      to: { path: '^shared/read/insight/' },
    },
    {
      name: 'only-the-catalog-uses-the-table',
      severity: 'error',
      from: { path: '^shared/', pathNot: '^shared/(storage/catalog|base/ports|aws)/' },
      to: { path: '^shared/base/ports/table' },
    },
    {
      name: 'only-aws-imports-the-sdk',
      severity: 'error',
      from: { path: '^shared/', pathNot: '^shared/aws/' },
      to: { path: '@aws-sdk' },
    },
    {
      name: 'nothing-imports-aws',
      comment: 'shared/aws implements the ports; functions/ and local/ choose it.',
      severity: 'error',
      from: { path: '^shared/', pathNot: '^shared/aws/' },
      to: { path: '^shared/aws/' },
    },
    {
      name: 'aws-imports-the-catalog-and-base',
      severity: 'error',
      from: { path: '^shared/aws/' },
      to: { path: '^shared/', pathNot: '^shared/(aws|storage/catalog|base/model|base/ports)/' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    parser: 'swc',
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { extensions: ['.ts', '.mjs', '.js'] },
  },
};
