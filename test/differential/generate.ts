/** A random query of the corpus: everything that oracle/ understands, written in the way of dashboards and of fuzzers. */
import { Dice } from '../simulation/dice.ts';
import { EMPTY_ALTERNATIVES, RAW_TEXTS } from './oracle/line-filters.ts';
import type { LogTree, MetricTree, QueryTree, RangeTree } from './queries.ts';

/** Subject of a query: selectors, with parsers and texts that suit their lines. */
interface Theme {
  readonly weight: number;
  readonly selectors: readonly string[];
  readonly parsers: readonly string[];
  readonly texts: readonly string[];
}

const JSON_PARSERS = [
  '| json',
  '| json',
  '| json',
  '| json level, x="req.path"',
  '| json x="items[0]", y="items[2].k", req',
  '| json status="status", app, x="[\\"a-b.c\\"]"',
  '| pattern "<_>\\"level\\":\\"<level>\\"<_>"',
  '| regexp "\\"user\\": ?\\"(?P<user>[^\\"]*)"',
];
const LOGFMT_PARSERS = [
  '| logfmt',
  '| logfmt',
  '| logfmt',
  '| logfmt --strict',
  '| logfmt --keep-empty',
  '| logfmt --strict --keep-empty',
  '| logfmt level, x="took"',
  '| logfmt app, y="n", user',
  '| logfmt --strict x="msg"',
  '| regexp "level=(?P<level>\\\\w+)"',
  '| pattern "<_>level=<level> <_>"',
];
const ACCESS_PARSERS = [
  '| pattern "<ip> - <user> [<_>] \\"<x> <y> <_>\\" <status> <size> <_>"',
  '| pattern "<ip> - <user> [<_>] \\"<x> <y> <_>\\" <status> <size> <_>"',
  '| regexp "(?P<ip>\\\\d+\\\\.\\\\d+\\\\.\\\\d+\\\\.\\\\d+)( - (?P<user>\\\\S+))?"',
  '| regexp "\\" (?P<status>\\\\d*)(?P<x>.)"',
];
const ODD_PARSERS = [
  '| regexp "(?P<x>a.)(?P<y>.*)"',
  '| pattern "<x>b<y>"',
  '| regexp "^(?P<status>.)"',
  '| pattern "<x> <y>"',
];
const PARSERS = [...JSON_PARSERS, ...LOGFMT_PARSERS, ...ACCESS_PARSERS, ...ODD_PARSERS, '| unpack'];

const THEMES: readonly Theme[] = [
  {
    weight: 4,
    selectors: [
      '{app="api"}',
      '{app="api", env="prod"}',
      '{app="api", env="dev"}',
      '{app="api", pod="2"}',
      '{app="shop"}',
      '{app="shop"}',
      '{app=~"api|shop", env="prod"}',
    ],
    parsers: JSON_PARSERS,
    texts: ['error', '"level":"error"', 'user-17', 'timeout', 'café', 'a\\xffb', '"took"', 'a', '{', '50'],
  },
  {
    weight: 4,
    selectors: [
      '{app="db"}',
      '{app="db", pod="1"}',
      '{app=~"db|ties"}',
      '{app="cart"}',
      '{app="cart"}',
      '{app=~"cart|db"}',
    ],
    parsers: LOGFMT_PARSERS,
    texts: ['error', 'level=error', 'user-17', 'timeout', 'café', 'took=', '\\xff', 'a', '50'],
  },
  {
    weight: 2,
    selectors: ['{app="web"}', '{app="web", env="prod"}'],
    parsers: ACCESS_PARSERS,
    texts: ['GET ', '10.0.0.7', '/health', ' 200 ', 'café', '\\xff', 'user-7', '"'],
  },
  {
    weight: 3,
    selectors: ['{app="odd"}', '{app=~"odd|ties"}', '{app="ties"}'],
    parsers: ODD_PARSERS,
    texts: ['error', 'a', '\\xff', '\\xfe', '\\ufffd', '\\xc3', '\\n', '\\t', 'caf', ' '],
  },
  {
    weight: 1,
    selectors: ['{app="packed"}'],
    parsers: ['| unpack', '| json'],
    texts: ['_entry', 'error', 'p-1', 'a'],
  },
  {
    weight: 3,
    selectors: [
      '{env="prod"}',
      '{env="dev"}',
      '{app=~"api|db"}',
      '{app=~".+", app!="huge"}',
      '{env=~"p.*", pod!="1"}',
      '{pod=~"1|2"}',
      '{app!~"huge|web", env=~".+"}',
      '{app="huge"}',
    ],
    parsers: PARSERS,
    texts: ['error', 'a', 'ERROR', '\\xff', '503', 'nowhere at all', 'err', '='],
  },
];

const REGEXES = [
  'error|timeout',
  '(?i)error',
  '(?i)TIMEOUT|café',
  '^\\\\{',
  '\\\\d{3}',
  '[0-9]+ms',
  'user-\\\\d+',
  'a.b',
  '(?s)one.line',
  '^$',
  '.+',
  '^.+$',
  'level=(error|warn)',
  'caf.',
  '"status": ?(500|503)',
  '(err|time)(or|out)',
  '\\\\w+@\\\\w+',
  '[^\\\\x00-\\\\x7f]',
  '^.\\\\x{FFFD}',
];
const PATTERNS = [
  '<_>error<_>',
  'level=<_>',
  '<_>level=<_> <_>',
  'error',
  '',
  '<_>',
  '<_>"<_>"<_>',
  '<_> - <_>',
  'a<_>b',
];
const ADDRESSES = ['10.0.0.7', '10.0.0.0/8', '10.0.0.1-10.0.1.255', '2001:db8::/32', '::1', '192.168.4.5'];

const NAMES = [
  'level',
  'status',
  'took',
  'size',
  'user',
  'msg',
  'ip',
  'n',
  'req_path',
  'trace',
  'zone',
  'app',
  'env',
  'pod',
];
const MORE_NAMES = [
  'app_extracted',
  'status_extracted',
  'level_extracted',
  'x',
  'y',
  'a_b_c',
  'nothing',
  'huge',
  'stream',
  'k',
];
const VALUES = [
  'error',
  'info',
  '500',
  'alice',
  'café',
  '',
  'eu',
  'api',
  'prod',
  't-7',
  '/v1/3',
  'inner',
  'a\\xffb',
  'a b',
];
const VALUE_REGEXES = [
  'error|warn',
  'e.*',
  '.+',
  '',
  '.*',
  '5..',
  '(?i)ERROR',
  'user-.*|bob',
  'a.b',
  '[a-z]+',
];

const TEMPLATES = [
  '{{.level}}',
  '{{.user}} {{.status}}',
  'x{{.msg}}y',
  '{{__line__}}',
  '{{__line__ | ToUpper}}',
  '{{.level | upper}}/{{.app}}',
  '{{trunc 3 __line__}}',
  '{{trunc -2 __line__}}',
  '{{.user | trunc 4}}',
  '{{substr 1 4 __line__}}',
  '{{.level | substr 5 2}}',
  '{{len __line__}}',
  '{{.took | default \\"none\\"}}',
  '{{replace \\"error\\" \\"ERR\\" __line__}}',
  '{{.msg | replace \\"\\\\xff\\" \\"?\\" | lower}}',
  '{{if .level}}has {{.level}}{{else}}none{{end}}',
  '{{alignLeft 5 __line__}}|',
  '{{trimAll \\"a \\" .user}}',
  'constant',
  'level={{.level}} took={{.took}} msg=\\"{{.user}}\\"',
  '',
];

const FILTER_OPS = ['>', '>=', '<', '<=', '==', '!='];

export class Generator {
  readonly #dice: Dice;
  #theme: Theme;

  constructor(seed: number) {
    this.#dice = new Dice(seed);
    this.#theme = this.#anyTheme();
  }

  #anyTheme(): Theme {
    return this.#dice.pick(THEMES.flatMap(theme => new Array<Theme>(theme.weight).fill(theme)));
  }

  #selector(): string {
    return this.#dice.pick(this.#theme.selectors);
  }

  #parser(): string {
    return this.#dice.pick(this.#dice.chance(0.85) ? this.#theme.parsers : PARSERS);
  }

  query(): QueryTree {
    return this.#dice.chance(0.45) ? this.#log() : this.#metric(3);
  }

  #log(): LogTree {
    return { kind: 'log', selector: this.#selector(), stages: this.#stages(4) };
  }

  #stages(most: number): string[] {
    const stages = Array.from({ length: this.#dice.between(0, most) }, () => this.#stage());
    // Most queries parse before they look at labels.
    const all = this.#dice.chance(0.4) ? [this.#parser(), ...stages] : stages;
    // After a name of drop or keep, `!=` would be a matcher on it.
    return all.map((stage, i) =>
      stage[0] === '!' && /^\| (?:drop|keep)/.test(all[i - 1] ?? '') ? `|${stage.slice(1)}` : stage,
    );
  }

  #stage(): string {
    const dice = this.#dice;
    const kind = dice.below(100);
    if (kind < 27) return this.#lineFilter();
    if (kind < 52) return this.#parser();
    if (kind < 77) return `| ${this.#labelFilter(2)}`;
    if (kind < 84) return this.#labelFormat();
    if (kind < 90) return `| line_format "${dice.pick(TEMPLATES)}"`;
    if (kind < 94) return `| drop ${this.#items()}`;
    if (kind < 97) return `| keep ${this.#items()}`;
    return '| decolorize';
  }

  #lineFilter(): string {
    const dice = this.#dice;
    const op = dice.pick(['|=', '|=', '|=', '!=', '!=', '|~', '|~', '|~', '!~', '!~', '|>', '!>']);
    const operands = Array.from({ length: dice.chance(0.2) ? dice.between(2, 3) : 1 }, () =>
      this.#operand(op),
    );
    return `${op} ${operands.join(' or ')}`;
  }

  #operand(op: string): string {
    const dice = this.#dice;
    if (op.endsWith('>')) return quoted(dice.pick(PATTERNS));
    if (op.endsWith('=')) {
      if (dice.chance(0.08)) return `ip("${dice.pick(ADDRESSES)}")`;
      return dice.chance(0.07) ? '""' : quoted(dice.pick(this.#theme.texts));
    }
    if (dice.chance(0.25)) return rawQuoted(dice.pick([...EMPTY_ALTERNATIVES.keys(), ...RAW_TEXTS.keys()]));
    return quoted(dice.pick(REGEXES));
  }

  #name(): string {
    return this.#dice.pick(this.#dice.chance(0.75) ? NAMES : MORE_NAMES);
  }

  #matcher(): string {
    const dice = this.#dice;
    const name = dice.chance(0.1) ? '__error__' : this.#name();
    const value = () => dice.pick(name === '__error__' ? ['', 'JSONParserErr', 'LabelFilterErr'] : VALUES);
    const op = dice.pick(['=', '=', '!=', '=~', '!~']);
    return `${name}${op}"${op.endsWith('~') ? dice.pick(VALUE_REGEXES) : value()}"`;
  }

  #labelFilter(depth: number): string {
    const dice = this.#dice;
    if (depth > 0 && dice.chance(0.2)) {
      const [left, right] = [this.#labelFilter(depth - 1), this.#labelFilter(depth - 1)];
      return `(${left} ${dice.pick(['and', 'or', 'or', ','])} ${right})`;
    }
    switch (dice.below(9)) {
      case 0:
      case 1:
        return `${dice.pick(['status', 'n', 'status', 'huge', 'level', 'size'])} ${dice.pick(FILTER_OPS)} ${dice.pick(['500', '0', '-12', '3.25', '1e3', '42'])}`;
      case 2:
        return `${dice.pick(['took', 'took', 'x', 'msg'])} ${dice.pick(FILTER_OPS)} ${dice.pick(['5ms', '1s', '1m30s', '250ms', '0s', '24h'])}`;
      case 3:
        return `${dice.pick(['size', 'size', 'y', 'n'])} ${dice.pick(FILTER_OPS)} ${dice.pick(['10KiB', '1KB', '512B', '1.5MB'])}`;
      case 4:
        return `${dice.pick(['ip', 'ip', 'msg'])} ${dice.pick(['=', '!='])} ip("${dice.pick(ADDRESSES)}")`;
      default:
        return this.#matcher();
    }
  }

  #labelFormat(): string {
    const dice = this.#dice;
    const targets = new Set(
      Array.from({ length: dice.between(1, 2) }, () => dice.pick(['x', 'y', 'level', 'app', 'user', 'k'])),
    );
    const items = [...targets].map(name =>
      dice.chance(0.4) ? `${name}=${this.#name()}` : `${name}="${dice.pick(TEMPLATES)}"`,
    );
    return `| label_format ${items.join(', ')}`;
  }

  #items(): string {
    const items = Array.from({ length: this.#dice.between(1, 3) }, () =>
      this.#dice.chance(0.3) ? this.#matcher() : this.#dice.chance(0.1) ? '__error__' : this.#name(),
    );
    return items.join(', ');
  }

  #metric(depth: number): MetricTree {
    const dice = this.#dice;
    const kind = depth === 0 ? 0 : dice.below(100);
    if (kind < 40) return this.#range();
    if (kind < 75) return this.#aggregation(depth);
    if (kind < 92) return this.#binary(depth);
    if (kind < 96) return this.#replace(depth);
    return { kind: 'constant', text: dice.pick(['vector(1)', 'vector(0)']) };
  }

  #range(): RangeTree {
    const dice = this.#dice;
    const window = {
      range: dice.pick(['1m', '5m', '10m', '1h', '7m', '90s']),
      offset: dice.chance(0.15) ? dice.pick(['5m', '1h', '-10m', '1s']) : undefined,
    };
    const log = { kind: 'range' as const, selector: this.#selector(), ...window };
    if (dice.chance(0.5)) {
      const op = dice.pick([
        'count_over_time',
        'count_over_time',
        'rate',
        'bytes_over_time',
        'bytes_rate',
        'absent_over_time',
      ]);
      return { ...log, op, stages: this.#stages(3), filters: [] };
    }
    const op = dice.pick([
      'sum_over_time',
      'avg_over_time',
      'min_over_time',
      'max_over_time',
      'stdvar_over_time',
      'stddev_over_time',
      'quantile_over_time',
      'first_over_time',
      'last_over_time',
      'rate',
      'rate_counter',
      'absent_over_time',
    ]);
    const groups = /^(?:avg|min|max|std|quantile|first|last)/.test(op) && dice.chance(0.6);
    return {
      ...log,
      op,
      parameter: op === 'quantile_over_time' ? dice.pick([0, 0.25, 0.5, 0.99, 1, 1.5]) : undefined,
      stages: [this.#parser(), ...this.#stages(2)],
      unwrap: `unwrap ${dice.pick(['status', 'n', 'duration(took)', 'duration_seconds(took)', 'bytes(size)', 'took', 'huge', 'y'])}`,
      filters: dice.pick([
        ['__error__=""'],
        ['__error__=""'],
        [],
        ['__error__=""', this.#matcher()],
        [this.#labelFilter(1)],
      ]),
      grouping: groups ? this.#grouping() : undefined,
    };
  }

  #grouping(): string {
    const dice = this.#dice;
    const names = new Set(
      Array.from({ length: dice.below(4) }, () => (dice.chance(0.05) ? '__error__' : this.#name())),
    );
    return `${dice.pick(['by', 'by', 'without'])} (${[...names].join(', ')})`;
  }

  #aggregation(depth: number): MetricTree {
    const dice = this.#dice;
    const op = dice.pick([
      'sum',
      'sum',
      'sum',
      'count',
      'avg',
      'min',
      'max',
      'stddev',
      'stdvar',
      'topk',
      'bottomk',
      'sort',
      'sort_desc',
    ]);
    const ranks = op.endsWith('k');
    const grouping = op.startsWith('sort') || dice.chance(0.25) ? undefined : this.#grouping();
    const inner = this.#metric(depth - 1);
    return { kind: 'aggregation', op, parameter: ranks ? dice.between(1, 4) : undefined, grouping, inner };
  }

  #binary(depth: number): MetricTree {
    const dice = this.#dice;
    const op = dice.pick([
      '+',
      '-',
      '*',
      '/',
      '%',
      '^',
      '==',
      '!=',
      '>',
      '<',
      '>=',
      '<=',
      'and',
      'or',
      'unless',
    ]);
    const isSet = op === 'and' || op === 'or' || op === 'unless';
    const bool = /[<>=]/.test(op) && dice.chance(0.4) ? ' bool' : '';
    const constant = (): MetricTree => ({
      kind: 'constant',
      text: dice.pick(['0', '1', '2', '0.5', '100', '-3']),
    });
    if (!isSet && dice.chance(0.4)) {
      const sides = [this.#metric(depth - 1), constant()];
      const [left, right] = dice.chance(0.7) ? sides : sides.toReversed();
      return { kind: 'binary', op, modifiers: bool, left, right };
    }
    const left = this.#metric(depth - 1);
    if (dice.chance(0.3)) this.#theme = this.#anyTheme();
    // Two legs of one kind match more often.
    const right =
      dice.chance(0.4) && left.kind === 'aggregation'
        ? { ...left, op: 'count', parameter: undefined }
        : this.#metric(depth - 1);
    let matching = '';
    if (dice.chance(0.4)) {
      const names = [...new Set(Array.from({ length: dice.between(0, 2) }, () => this.#name()))].join(', ');
      matching = ` ${dice.pick(['on', 'ignoring'])} (${names})`;
      if (!isSet && dice.chance(0.4))
        matching += ` ${dice.pick(['group_left', 'group_right'])}${dice.pick(['', ' (zone)', ' (app, x)'])}`;
    }
    return { kind: 'binary', op, modifiers: bool + matching, left, right };
  }

  #replace(depth: number): MetricTree {
    const texts = this.#dice.pick([
      '"x", "$1", "app", "(.*)"',
      '"app", "", "app", ".*"',
      '"level", "$1-$2", "user", "(.)(.*)"',
      '"pod", "p$1", "pod", "([0-9])"',
      '"x", "y", "nothing", ""',
    ]);
    return { kind: 'replace', texts, inner: this.#metric(depth - 1) };
  }
}

/** The lists hold texts as they appear between quotes. */
function quoted(inside: string): string {
  return `"${inside.replaceAll('"', '\\"')}"`;
}

function rawQuoted(text: string): string {
  return `\`${text}\``;
}
