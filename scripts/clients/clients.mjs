/**
 * Clients for scripts/test-clients.mjs. `prepare` installs a client and writes its configuration. It returns
 * the command line, and the version if the registry decides it. Configurations contain the placeholders
 * HOST_PORT, STORE_HOST, STORE_PORT, INPUT and STATE for the store, the log file and the client's folder. Fluent Bit's
 * section INPUT is therefore written [Input].
 *
 *     feed      'file': it follows a file; 'stdin': a program of this folder logs what it reads, and ends
 *     retries   it retries failed sends for at least a minute, so that killing the store loses nothing. Others are not
 *               running during a kill; docs/send/libraries.md says what each of them loses
 *     losesBroken
 *               it drops a request whose connection breaks, and has none under way during the kill
 *     backsOff  it retries a send that was answered 429; as `retries`, unless it is set
 *     quick     it comes from npm's or Debian's packages
 *     lineOf    the line that was logged, from the line that is stored
 *
 * Programs without a package are used if a variable names them (programs.mjs).
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { ROOT } from '../../bin/installed.mjs';
import { findRuntimes } from '../../bin/runtime.mjs';
import { freePort } from '../processes.mjs';
import {
  debianRoot,
  debianVersion,
  goProgram,
  javaWith,
  librariesOf,
  pythonWith,
  Unavailable,
} from './install.mjs';
import { blocksOf, withValues } from './page-config.mjs';
import { givenProgram, LOKI_MODULE, linked, namedProgram } from './programs.mjs';

const HERE = fileURLToPath(new URL('.', import.meta.url));
/** Packages that the daemons need in addition to a minimal Debian. */
const SYSLOG_NG = ['syslog-ng-core', 'syslog-ng-mod-http', 'libivykis0', 'libnet1', 'libpcre3', 'libwrap0'];
const RSYSLOG = ['rsyslog', 'rsyslog-elasticsearch', 'libestr0', 'libfastjson4', 'liblognorm5'];
/** Releases of the Collector's core and of its contributed components that belong together. */
const COLLECTOR_VERSION = 'v0.165.0';
const COLLECTOR_MODULES = {
  'go.opentelemetry.io/collector/otelcol': COLLECTOR_VERSION,
  'go.opentelemetry.io/collector/exporter/otlphttpexporter': COLLECTOR_VERSION,
  'go.opentelemetry.io/collector/processor/batchprocessor': COLLECTOR_VERSION,
  'go.opentelemetry.io/collector/receiver/otlpreceiver': COLLECTOR_VERSION,
  'github.com/open-telemetry/opentelemetry-collector-contrib/receiver/filelogreceiver': 'v0.165.1',
  'github.com/open-telemetry/opentelemetry-collector-contrib/extension/storage/filestorage': 'v0.165.1',
};
const PYTHON = {
  'python-logging-loki': '0.3.1',
  'loki-logger-handler': '1.1.2',
  elasticsearch: '9.5.1',
  'opentelemetry-sdk': '1.45.2',
  'opentelemetry-exporter-otlp-proto-http': '1.45.2',
};
const LOKI4J = ['com.github.loki4j:loki-logback-appender:2.0.0', 'ch.qos.logback:logback-classic:1.5.18'];
const LOG4J2 = [
  ...['pl.tkowalcz.tjahzi:log4j2-appender:0.9.32', 'org.apache.logging.log4j:log4j-core:2.24.3'],
  ...['org.apache.logging.log4j:log4j-slf4j2-impl:2.24.3', 'org.slf4j:slf4j-api:2.0.16'],
];
/** Address of the store on the pages. */
const STORE = 'http://localhost:3100';
/** Why an agent is not fetched. */
const NO_PACKAGE = 'Debian 12, PyPI, npm, Maven, crates.io and the Go proxy have no package of it';
const ALLOY = `it depends on Loki: ${LOKI_MODULE}`;

export const CLIENTS = [
  npm('winston-loki', 'winston-loki.mjs', 'Loki push, JSON', '{app="winston"}', { retries: true }),
  npm('pino-loki', 'pino-loki.mjs', 'Loki push, JSON', '{app="pino"}', {
    lineOf: line => JSON.parse(line).msg,
  }),
  otelJs('exporter-logs-otlp-proto', 'OTLP'),
  otelJs('exporter-logs-otlp-http', 'OTLP, JSON'),
  {
    name: 'syslog-ng, destination http',
    protocol: 'JSON lines',
    feed: 'file',
    retries: true,
    quick: true,
    selector: '{program="jsonline"}',
    prepare: given => syslogNg(given, 'syslog-ng-jsonline.conf'),
  },
  {
    name: 'syslog-ng, destination http',
    protocol: 'Elasticsearch bulk',
    feed: 'file',
    retries: true,
    quick: true,
    selector: '{index="syslog-ng"}',
    prepare: given => syslogNg(given, 'syslog-ng-bulk.conf'),
  },
  {
    name: 'rsyslog, omelasticsearch',
    protocol: 'Elasticsearch bulk',
    feed: 'file',
    retries: true,
    backsOff: false,
    quick: true,
    selector: '{index="rsyslog"}',
    prepare(given) {
      const root = debianRoot('rsyslog', RSYSLOG);
      const libraries = librariesOf(root);
      const modules = libraries.split(':').map(folder => join(folder, 'rsyslog'));
      const file = configuration('rsyslog.conf', given);
      return {
        version: debianVersion('rsyslog', 'rsyslog'),
        argv: [
          ...[join(root, 'usr', 'sbin', 'rsyslogd'), '-n', '-f', file, '-i', join(given.folder, 'pid')],
          ...['-M', modules.join(':')],
        ],
        environment: { LD_LIBRARY_PATH: libraries },
      };
    },
  },
  python('opentelemetry-sdk', 'otlp.py', 'OTLP', '{service_name="python-otlp"}', { backsOff: true }),
  python('python-logging-loki', 'loki.py', 'Loki push, JSON', '{app="python-loki"}'),
  python('loki-logger-handler', 'loki-handler.py', 'Loki push, JSON', '{app="python-handler"}', {
    lineOf: line => JSON.parse(line).message,
  }),
  python('elasticsearch', 'bulk.py', 'Elasticsearch bulk', '{index="python-bulk"}', { backsOff: true }),
  java('loki4j', LOKI4J, 'logback.xml', 'Loki push, JSON', '{app="loki4j"}', {
    retries: true,
    losesBroken: true,
  }),
  // Pitfall: it drops the requests of a connection that breaks, and repeats a refused request without its body.
  java('tjahzi log4j2-appender', LOG4J2, 'log4j2.xml', 'Loki push, protobuf', '{app="log4j2"}'),
  {
    name: 'OpenTelemetry Collector',
    protocol: 'OTLP',
    feed: 'file',
    retries: true,
    selector: '{service_name="otelcol"}',
    prepare(given) {
      const { program, version } = collector();
      return { version, argv: [program, '--config', configuration('otelcol.yaml', given)] };
    },
  },
  {
    name: 'OpenTelemetry Collector with an SDK',
    protocol: 'OTLP',
    feed: 'stdin',
    retries: true,
    selector: '{service_name="otelcol-otlp"}',
    prepare(given) {
      const { program, version } = collector();
      const [text] = blocksOf('opentelemetry.md');
      const receiver = written(given, 'receiver.yaml', text, {
        ' http:': ' http: { endpoint: 127.0.0.1:PORT }',
        'timeout: 5s': 'timeout: 1s',
      });
      const script = join(HERE, 'otelcol-otlp.mjs');
      const [runtime] = findRuntimes();
      return { version, argv: [runtime, script, program, configuration('otelcol.yaml', given), receiver] };
    },
  },
  named('Promtail', 'promtail', LOKI_MODULE, 'Loki push, protobuf', '{job="promtail"}', {
    argv(given) {
      const [, text] = blocksOf('alloy-promtail.md');
      const file = written(given, 'promtail.yaml', text, {
        'http_listen_port: 9080':
          'http_listen_address: 127.0.0.1\n  http_listen_port: 0\n  grpc_listen_port: 0',
        '/var/lib/promtail': stateOf(given),
        [STORE]: given.url,
        'batchwait: 5s': 'batchwait: 1s',
        '/var/log/*.log': given.input,
        varlogs: 'promtail',
      });
      return [`-config.file=${file}`];
    },
  }),
  named('Grafana Alloy, loki.source.file', 'alloy', ALLOY, 'Loki push, protobuf', '{job="alloy"}', {
    argv(given) {
      const [text] = blocksOf('alloy-promtail.md');
      return alloyRun(given, text, {
        [STORE]: given.url,
        '/var/log/*.log': given.input,
        varlogs: 'alloy',
      });
    },
  }),
  {
    name: 'Grafana Alloy, loki.source.kubernetes',
    protocol: 'Loki push, protobuf',
    feed: 'stdin',
    retries: true,
    selector: '{namespace="shop", pod="web-1", container="nginx", app="web"}',
    // It keeps the line feed of a line.
    lineOf: line => line.slice(0, -1),
    async prepare(given) {
      const { program, version } = givenProgram('alloy', ALLOY);
      const [values] = blocksOf('kubernetes.md');
      const { content } = parse(values).alloy.configMap;
      const run = await alloyRun(given, content, { 'http://logboom.default.svc:3100': given.url });
      const [runtime] = findRuntimes();
      const script = [runtime, join(HERE, 'kubernetes-logs.mjs'), given.folder, program];
      return { version, argv: ['unshare', '--mount', ...script, ...run] };
    },
  },
  {
    name: 'Docker log driver of Loki',
    protocol: 'Loki push, protobuf',
    feed: 'stdin',
    retries: true,
    selector: '{app="docker", container_name="web"}',
    prepare(given) {
      const { program, version } = givenProgram('docker-driver', LOKI_MODULE, linked);
      const options = { ...dockerOptions(given), 'loki-batch-wait': '1s' };
      const [runtime] = findRuntimes();
      const script = [
        runtime,
        join(HERE, 'docker-driver.mjs'),
        program,
        given.folder,
        JSON.stringify(options),
      ];
      return { version, argv: ['unshare', '--mount', ...script] };
    },
  },
  vector('loki', 'Loki push, protobuf', '{job="vector"}', 0, { 'timeout_secs = 5': 'timeout_secs = 1' }),
  vector('elasticsearch', 'Elasticsearch bulk', '{index="vector"}', 1, { '"web"': '"vector"' }),
  vector('http', 'JSON lines', '{app="vector"}', 2, {
    '_stream_fields=host': '_stream_fields=app&extra_fields=app=vector',
  }),
  named('Fluent Bit, output loki', 'fluent-bit', NO_PACKAGE, 'Loki push, JSON', '{app="fluent-bit"}', {
    argv: given => ['-c', configuration('fluent-bit.conf', given)],
    lineOf: line => JSON.parse(line).log,
  }),
  named('Fluent Bit, output es', 'fluent-bit', NO_PACKAGE, 'Elasticsearch bulk', '{index="fluent-bit"}', {
    argv: given => ['-c', configuration('fluent-bit-es.conf', given)],
  }),
  named('Fluent Bit, output http', 'fluent-bit', NO_PACKAGE, 'JSON lines', '{app="fluent-bit-http"}', {
    argv: given => ['-c', configuration('fluent-bit-http.conf', given)],
  }),
];

/** Agent that follows a file, if a variable names its program. */
function named(name, program, reason, protocol, selector, { argv, ...more }) {
  const prepare = async given => {
    const found = givenProgram(program, reason);
    return { version: found.version, argv: [found.program, ...(await argv(given))] };
  };
  return { name, protocol, feed: 'file', retries: true, selector, ...more, prepare };
}

/** Options of the container on the page about Docker. */
function dockerOptions({ url }) {
  const page = readFileSync(join(ROOT, 'docs', 'send', 'docker.md'), 'utf8');
  const options = [...page.matchAll(/--log-opt '?([\w-]+)=([^'\s]+)/g)].map(([, name, value]) => [
    name,
    value,
  ]);
  return JSON.parse(
    withValues(JSON.stringify(Object.fromEntries(options)), { [STORE]: url, 'app=web': 'app=docker' }),
  );
}

/** Arguments of Alloy for a configuration of a page. */
async function alloyRun(given, text, values) {
  const file = written(given, 'config.alloy', text, { ...values, '"5s"': '"1s"' });
  return [
    ...['run', file, `--storage.path=${stateOf(given)}`],
    ...[`--server.http.listen-addr=127.0.0.1:${await freePort()}`, '--disable-reporting'],
  ];
}

/** Vector with one of the sinks of its page. The first block of the page has the source of all. */
function vector(sink, protocol, selector, number, values) {
  const argv = given => {
    const blocks = blocksOf('vector.md');
    const [source] = blocks[0].split(/^(?=\[sinks)/m);
    const text = number === 0 ? blocks[0] : `${source}${blocks[number]}`;
    const all = { [STORE]: given.url, '/var/log/*.log': given.input, ...values };
    const file = written(given, 'vector.toml', `data_dir = "${stateOf(given)}"\n${text}`, all);
    return ['--config', file, '--quiet'];
  };
  return named(`Vector, sink ${sink}`, 'vector', NO_PACKAGE, protocol, selector, { argv });
}

/** Program of this folder that uses a package of this project. It is called with the store's URL and the package. */
function npm(name, file, protocol, selector, more = {}) {
  const prepare = ({ url }) => {
    const manifest = join(ROOT, 'node_modules', name, 'package.json');
    if (!existsSync(manifest)) throw new Unavailable('it is not installed: npm ci');
    const { version } = JSON.parse(readFileSync(manifest, 'utf8'));
    const [runtime] = findRuntimes();
    return { version, argv: [runtime, join(HERE, file), url, name] };
  };
  return { name, protocol, feed: 'stdin', retries: false, quick: true, selector, ...more, prepare };
}

function otelJs(name, protocol) {
  return npm(`@opentelemetry/${name}`, 'otel-js.mjs', protocol, `{service_name="${name}"}`, {
    backsOff: true,
  });
}

function python(name, file, protocol, selector, more = {}) {
  const prepare = ({ url }) => {
    const pinned = Object.entries(PYTHON).map(([one, version]) => `${one}==${version}`);
    return { version: PYTHON[name], argv: [pythonWith('python', pinned), join(HERE, file), url] };
  };
  const shown = `${name} (Python)`;
  return { name: shown, protocol, feed: 'stdin', retries: false, selector, ...more, prepare };
}

function java(name, artifacts, file, protocol, selector, more = {}) {
  const prepare = given => {
    const folder = javaWith(artifacts[0].replaceAll(':', '-'), artifacts, join(HERE, 'java', 'Ship.java'));
    const text = configuration(join('java', file), given);
    const logging = [`-Dlogback.configurationFile=${text}`, `-Dlog4j2.configurationFile=${text}`];
    const argv = ['java', '-Dfile.encoding=UTF-8', ...logging, '-cp', `${folder}:${folder}/*`, 'Ship'];
    return { version: artifacts[0].split(':')[2], argv };
  };
  return { name: `${name} (Java)`, protocol, feed: 'stdin', retries: false, selector, ...more, prepare };
}

/** Collector that a variable names, or one that is compiled with the components of its page. */
function collector() {
  const source = readFileSync(join(HERE, 'otelcol.go.txt'), 'utf8');
  return (
    namedProgram('otelcol') ?? {
      program: goProgram('otelcol', COLLECTOR_MODULES, source),
      version: COLLECTOR_VERSION,
    }
  );
}

function syslogNg(given, name) {
  const root = debianRoot('syslog-ng', SYSLOG_NG);
  const own = file => join(given.folder, file);
  return {
    version: debianVersion('syslog-ng', 'syslog-ng-core'),
    argv: [
      ...[join(root, 'usr', 'sbin', 'syslog-ng'), '--foreground', '--stderr', '--no-caps'],
      ...['--cfgfile', configuration(name, given), '--pidfile', own('pid'), '--control', own('control')],
      ...['--persist-file', own('persist'), '--module-path', join(root, 'usr', 'lib', 'syslog-ng', '3.38')],
    ],
    environment: { LD_LIBRARY_PATH: librariesOf(root) },
  };
}

/** Folder in which a client keeps what it has read and sent. */
function stateOf({ folder }) {
  const state = join(folder, 'state');
  mkdirSync(state, { recursive: true });
  return state;
}

/** Writes a configuration of a page, with the values of this run. */
function written({ folder }, name, text, values) {
  const file = join(folder, name);
  writeFileSync(file, withValues(text, values));
  return file;
}

/** Writes the configuration with the values of this run. */
function configuration(name, given) {
  const { folder, url, input } = given;
  const { host, hostname, port } = new URL(url);
  const text = readFileSync(join(HERE, name), 'utf8')
    .replaceAll('HOST_PORT', host)
    .replaceAll('INPUT', input)
    .replaceAll('STATE', stateOf(given))
    .replaceAll('STORE_HOST', hostname)
    .replaceAll('STORE_PORT', port);
  const file = join(folder, name.replaceAll('/', '-'));
  writeFileSync(file, text);
  return file;
}
