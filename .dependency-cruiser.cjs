// Arrows point down (docs/architecture.md, section 1). Each rule names what may not be imported.
const leaf = '^shared/(model|ports|kernels)/';
const engine = '^shared/(chunk|catalog|index|logql|pipeline|promoted|metrics|regex)/';
const above = '^(bin|lib|functions|local|bench|scripts|test)/';
module.exports = {
  forbidden: [
    { name: 'no-circles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'shared-knows-nobody-above',
      comment: 'shared/ is the log store: it knows nothing of processes, servers, Lambda events or CDK.',
      severity: 'error',
      from: { path: '^shared/' },
      to: { path: above },
    },
    {
      name: 'model-imports-nothing-above',
      severity: 'error',
      from: { path: '^shared/model/' },
      to: { path: '^(shared|local|functions|bin|lib)/', pathNot: '^shared/model/' },
    },
    {
      name: 'kernels-import-model-only',
      severity: 'error',
      from: { path: '^shared/kernels/' },
      to: { path: '^shared/', pathNot: '^shared/(kernels|model)/' },
    },
    {
      name: 'logql-imports-model-only',
      comment: 'logql is pure: text in, tree out.',
      severity: 'error',
      from: { path: '^shared/logql/' },
      to: { path: '^shared/', pathNot: '^shared/(logql|model|regex)/' },
    },
    {
      name: 'ports-import-model-only',
      severity: 'error',
      from: { path: '^shared/ports/' },
      to: { path: '^shared/', pathNot: leaf },
    },
    {
      name: 'engine-imports-engine-and-leaves',
      severity: 'error',
      from: { path: engine },
      to: { path: '^shared/', pathNot: `${leaf}|${engine}` },
    },
    {
      name: 'query-knows-no-insight',
      comment: 'insight asks the query engine, and nothing that runs a query asks insight.',
      severity: 'error',
      from: { path: '^shared/(query|deletion|compaction|ingest)/' },
      to: { path: '^shared/insight/' },
    },
    {
      name: 'capabilities-do-not-import-http',
      comment: 'http calls the capabilities, never the other way round.',
      severity: 'error',
      from: { path: '^shared/', pathNot: '^shared/http/' },
      to: { path: '^shared/http/' },
    },
    {
      name: 'only-the-catalog-uses-the-table',
      severity: 'error',
      from: { path: '^shared/', pathNot: '^shared/(catalog|ports|aws)/' },
      to: { path: '^shared/ports/table' },
    },
    {
      name: 'no-aws-outside-its-folder',
      severity: 'error',
      from: { path: '^shared/', pathNot: '^shared/aws/' },
      to: { path: '@aws-sdk' },
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
