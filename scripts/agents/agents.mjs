/**
 * The agents that scripts/test-agents.mjs runs. `prepare` gets an agent and writes its configuration; it answers the
 * command line, with `ends` where the agent ships what it has and ends by itself. In the configurations HOST_PORT, INPUT
 * and STATE stand for the store, the log file and a folder of the agent's own.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { debianRoot, goProgram, librariesOf, pythonWith } from './install.mjs';

const HERE = fileURLToPath(new URL('.', import.meta.url));
/** What the daemons need beside what any Debian has. */
const SYSLOG_NG = ['syslog-ng-core', 'syslog-ng-mod-http', 'libivykis0', 'libnet1', 'libpcre3', 'libwrap0'];
const RSYSLOG = ['rsyslog', 'rsyslog-elasticsearch', 'libestr0', 'libfastjson4', 'liblognorm5'];
const COLLECTOR_VERSION = 'v0.164.0';

export const AGENTS = [
  {
    name: 'syslog-ng, destination http → JSON lines',
    selector: '{program="jsonline"}',
    prepare: given => syslogNg(given, 'syslog-ng-jsonline.conf'),
  },
  {
    name: 'syslog-ng, destination http → Elasticsearch bulk',
    selector: '{index="syslog-ng"}',
    prepare: given => syslogNg(given, 'syslog-ng-bulk.conf'),
  },
  {
    name: 'rsyslog, omelasticsearch → Elasticsearch bulk',
    selector: '{index="rsyslog"}',
    prepare(given) {
      const root = debianRoot('rsyslog', RSYSLOG);
      const libraries = librariesOf(root);
      const modules = libraries.split(':').map(folder => join(folder, 'rsyslog'));
      const file = configuration('rsyslog.conf', given);
      return {
        argv: [
          ...[join(root, 'usr', 'sbin', 'rsyslogd'), '-n', '-f', file, '-i', join(given.folder, 'pid')],
          ...['-M', modules.join(':')],
        ],
        environment: { LD_LIBRARY_PATH: libraries },
      };
    },
  },
  {
    name: 'OpenTelemetry Collector, filelog → otlphttp',
    selector: '{service_name="otelcol"}',
    prepare(given) {
      const program = goProgram('otelcol', {
        'main.go': readFileSync(join(HERE, 'otelcol.go.txt'), 'utf8'),
        'go.mod': collectorModule(),
      });
      return { argv: [program, '--config', configuration('otelcol.yaml', given)] };
    },
  },
  ...[
    {
      name: 'OpenTelemetry SDK for Python → OTLP',
      file: 'otlp.py',
      selector: '{service_name="python-otlp"}',
    },
    { name: 'python-logging-loki → Loki push', file: 'loki.py', selector: '{app="python-loki"}' },
    { name: 'elasticsearch-py, helpers.bulk', file: 'bulk.py', selector: '{index="python-bulk"}' },
  ].map(({ name, file, selector }) => ({
    name,
    selector,
    prepare({ url, input }) {
      const python = pythonWith('python', [
        ...['python-logging-loki==0.3.1', 'elasticsearch==9.5.1'],
        ...['opentelemetry-sdk==1.45.2', 'opentelemetry-exporter-otlp-proto-http==1.45.2'],
      ]);
      return { argv: [python, join(HERE, file), url, input], ends: true };
    },
  })),
];

function syslogNg(given, name) {
  const root = debianRoot('syslog-ng', SYSLOG_NG);
  const own = file => join(given.folder, file);
  return {
    argv: [
      ...[join(root, 'usr', 'sbin', 'syslog-ng'), '--foreground', '--stderr', '--no-caps'],
      ...['--cfgfile', configuration(name, given), '--pidfile', own('pid'), '--control', own('control')],
      ...['--persist-file', own('persist'), '--module-path', join(root, 'usr', 'lib', 'syslog-ng', '3.38')],
    ],
    environment: { LD_LIBRARY_PATH: librariesOf(root) },
  };
}

/** Writes the configuration with the places of this run. */
function configuration(name, { folder, url, input }) {
  const state = join(folder, 'state');
  mkdirSync(state, { recursive: true });
  const text = readFileSync(join(HERE, name), 'utf8')
    .replaceAll('HOST_PORT', new URL(url).host)
    .replaceAll('INPUT', input)
    .replaceAll('STATE', state);
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

function collectorModule() {
  const core = 'go.opentelemetry.io/collector';
  const contrib = 'github.com/open-telemetry/opentelemetry-collector-contrib';
  const modules = [
    `${core}/otelcol`,
    `${core}/exporter/otlphttpexporter`,
    `${contrib}/receiver/filelogreceiver`,
  ];
  const required = modules.map(module => `\t${module} ${COLLECTOR_VERSION}\n`).join('');
  return `module otelcol\n\ngo 1.25.0\n\nrequire (\n${required})\n`;
}
