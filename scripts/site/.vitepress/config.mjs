/**
 * Documentation site. scripts/docs-site.mjs writes the pages to ./pages, from docs/, README.md and
 * CHANGELOG.md.
 */
const page = (text, link) => ({ text, link });

/** Anchors in GitHub's format, so that links work in both places; test/docs checks them. */
function slugify(heading) {
  return heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_\- ]/gu, '')
    .replaceAll(' ', '-');
}

export default {
  title: 'Logboom',
  description: 'A multi-tenant log store with the HTTP API of Loki and LogQL',
  srcDir: 'pages',
  outDir: '../../dist/docs',
  cacheDir: 'node_modules/.vitepress-cache',
  // Loki's templates and LogQL contain braces that Vue would evaluate.
  markdown: { attrs: { disable: true }, anchor: { slugify } },
  ignoreDeadLinks: 'localhostLinks',
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    nav: [
      page('Quick start', '/quick-start'),
      page('LogQL', '/query'),
      page('Reference', '/reference/http-api'),
      page('Changelog', '/changelog'),
    ],
    sidebar: [
      {
        text: 'Start',
        items: [
          page('Quick start', '/quick-start'),
          page('Install', '/install'),
          page('Kubernetes', '/kubernetes'),
          page('Migrate', '/migrate-from-loki'),
        ],
      },
      {
        text: 'Send logs',
        items: [
          page('Choose a receiver', '/send/'),
          page('Alloy, Promtail, Docker', '/send/alloy-promtail'),
          page('Fluent Bit', '/send/fluent-bit'),
          page('Vector', '/send/vector'),
          page('OpenTelemetry', '/send/opentelemetry'),
          page('Elasticsearch bulk', '/send/elasticsearch-bulk'),
          page('JSON lines and syslog', '/send/json-lines-syslog'),
          page('Libraries', '/send/libraries'),
          page('AWS sources', '/send/aws'),
          page('Tested clients', '/send/tested-clients'),
        ],
      },
      {
        text: 'Use',
        items: [
          page('LogQL cheat sheet', '/query'),
          page('Grafana', '/grafana'),
          page('Explorer', '/explorer'),
          page('Command line', '/cli'),
          page('Live tail', '/live-tail'),
          page('Patterns', '/patterns'),
          page('Alerts', '/alerts'),
        ],
      },
      {
        text: 'Operate',
        items: [
          page('Size', '/operate/size'),
          page('Delete and retention', '/delete-and-retention'),
          page('Security', '/security'),
          page('Backup and upgrade', '/operate/backup-upgrade'),
          page('Monitor', '/operate/monitor'),
          page('Troubleshooting', '/operate/troubleshoot'),
          page('Deploy to AWS', '/deploy-aws'),
          page('Cost', '/cost'),
        ],
      },
      {
        text: 'Reference',
        collapsed: true,
        items: [
          page('HTTP API', '/reference/http-api'),
          page('Configuration', '/reference/configuration'),
          page('Limits', '/reference/limits'),
          page('Metrics and usage', '/reference/metrics'),
          page('Command line', '/reference/cli'),
          page('Rules', '/reference/rules'),
          page('Receivers', '/reference/receivers'),
          page('OpenTelemetry', '/reference/otlp'),
          page('AWS', '/reference/aws'),
          page('Differences from Loki', '/reference/differences'),
          page('Known gaps', '/reference/known-gaps'),
        ],
      },
      {
        text: 'Develop',
        collapsed: true,
        items: [
          page('Architecture', '/dev/architecture'),
          page('Read path', '/dev/read-path'),
          page('Catalog', '/dev/catalog'),
          page('Compaction', '/dev/compaction'),
          page('Deletion', '/dev/deletion'),
          page('Threads', '/dev/threads'),
          page('Live tails', '/dev/tail'),
          page('LogQL semantics', '/dev/logql-semantics'),
          page('Wire format', '/dev/wire-format'),
          page('Testing', '/dev/testing'),
          page('One way', '/dev/one-way'),
          page('Benchmarks', '/dev/benchmarks'),
          page('Chunk format', '/dev/format'),
          page('Index format', '/dev/index-format'),
          page('Invariants', '/dev/invariants'),
          page('Operations', '/dev/operations'),
          page('Internal gaps', '/dev/gaps'),
        ],
      },
    ],
  },
};
