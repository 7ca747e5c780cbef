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

/** Templates of LogQL and of agents contain double braces, which Vue would evaluate outside code blocks. */
function escapeBraces(markdown) {
  for (const name of ['text', 'code_inline']) {
    const render = markdown.renderer.rules[name];
    markdown.renderer.rules[name] = (...args) => render(...args).replaceAll('{{', '&#123;&#123;');
  }
}

export default {
  title: 'Logboom',
  description: 'A multi-tenant log store with the HTTP API of Loki and LogQL',
  srcDir: 'pages',
  outDir: '../../dist/docs',
  cacheDir: 'node_modules/.vitepress-cache',
  markdown: {
    attrs: { disable: true },
    anchor: { slugify },
    config: escapeBraces,
  },
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
          page('Alloy and Promtail', '/send/alloy-promtail'),
          page('Docker', '/send/docker'),
          page('Kubernetes', '/send/kubernetes'),
          page('Fluent Bit', '/send/fluent-bit'),
          page('Vector', '/send/vector'),
          page('OpenTelemetry', '/send/opentelemetry'),
          page('Elasticsearch bulk', '/send/elasticsearch-bulk'),
          page('syslog-ng, rsyslog, JSON lines', '/send/json-lines-syslog'),
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
          page('Boards', '/boards'),
          page('Pictures of the explorer', '/explorer-views'),
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
          page('Catalog', '/dev/catalog'),
          page('Compaction', '/dev/compaction'),
          page('Deletion', '/dev/deletion'),
          page('Explorer', '/dev/explorer'),
          page('Fleet', '/dev/fleet'),
          page('Live tails', '/dev/tail'),
          page('LogQL semantics', '/dev/logql-semantics'),
          page('Patterns', '/dev/patterns'),
          page('Read path', '/dev/read-path'),
          page('Rule evaluation', '/dev/rules-evaluation'),
          page('Threads', '/dev/threads'),
          page('Chunk format', '/dev/format'),
          page('Index format', '/dev/index-format'),
          page('Wire format', '/dev/wire-format'),
          page('Invariants', '/dev/invariants'),
          page('One way', '/dev/one-way'),
          page('Operations', '/dev/operations'),
          page('Security review', '/dev/security-review'),
          page('Testing', '/dev/testing'),
          page('AWS emulators', '/dev/aws-emulators'),
          page('Benchmarks', '/dev/benchmarks'),
          page('History of benchmarks', '/dev/benchmarks-history'),
          page('Cost model', '/dev/cost-model'),
          page('Internal gaps', '/dev/gaps'),
        ],
      },
      {
        text: 'Decisions',
        collapsed: true,
        items: [
          page('Dependencies', '/dev/decisions/0001-dependencies'),
          page('Compression of pushes', '/dev/decisions/0002-push-compression'),
          page('Timestamps', '/dev/decisions/0003-timestamps'),
          page('Zstandard', '/dev/decisions/0004-zstd-handle'),
          page('Stored once', '/dev/decisions/0005-exactly-once'),
          page('Package', '/dev/decisions/0006-package'),
          page('Order of equal timestamps', '/dev/decisions/0007-order-of-equal-timestamps'),
          page('Threads', '/dev/decisions/0008-threads'),
          page('Templates and columns', '/dev/decisions/0009-templates-and-columns'),
          page('Terminal library', '/dev/decisions/0010-terminal-library'),
          page('Requests without the SDK', '/dev/decisions/0011-requests-without-the-sdk'),
          page('Free memory of the allocator', '/dev/decisions/0012-free-memory-of-the-allocator'),
          page('Texts with a number', '/dev/decisions/0013-texts-with-a-number'),
          page('Pages in any order', '/dev/decisions/0014-pages-in-any-order'),
          page('Captures from columns', '/dev/decisions/0015-captures-from-columns'),
        ],
      },
    ],
  },
};
