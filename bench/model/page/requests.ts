/**
 * Cost of single pushes, chunks and queries: sentences and tables of docs/dev/cost-model.md up to "A thousand
 * queries".
 */
import { MINUTES_PER_DAY } from '../../../shared/base/model/time-units.ts';
import { CHUNK_ITEM, PUSH, REQUESTS_OF_INGEST, REQUESTS_OF_QUERIES } from '../figures.ts';
import {
  functionSeconds,
  MILLION,
  MINUTES_OF_MONTH,
  millionth,
  price,
  twoDigits,
  whole,
} from './figures-text.ts';

const QUERY_MEMORY_MB = 3008;

/** Each instance writes an item of at most two units per minute. */
export function instanceSums(): string[] {
  return [
    `${whole(MINUTES_PER_DAY)} x 2 x ${price('tableWrite')} / 1,000,000 = ${millionth(MINUTES_PER_DAY * 2, 'tableWrite').toFixed(3)} dollars a day`,
    `100 instances are 25 to 50 read units, ${millionth(MINUTES_OF_MONTH * 50, 'tableRead').toFixed(2)} dollars a month at most`,
    `two metrics (${price('metric').toFixed(2)} dollars a month each`,
    `lines of about 400 bytes at ${price('logsIngested').toFixed(2)} dollars a GB`,
  ];
}

/** Kilobytes at which an inline chunk costs as much as an object. */
export function inlineSums(): string[] {
  const perKb = 2 * price('tableWrite');
  const object = price('objectPut') + price('objectGet');
  return [
    `\`2 n x ${price('tableWrite')} = ${perKb} n\``,
    `\`${price('objectPut').toFixed(2)} + ${price('objectGet').toFixed(2)} = ${object.toFixed(2)}\``,
    `They are equal at n = ${(object / perKb).toFixed(1)}.`,
    `with it they are equal at ${(object / perKb + 1).toFixed(1)}.)`,
    `Being off by 1 KB costs at most ${perKb} dollars for a million pushes`,
  ];
}

const PUSH_SECONDS_PER_GB = 15;

interface BatchCost {
  readonly name: string;
  readonly pushes: number;
  /** Gateway; Lambda; S3 and DynamoDB. */
  readonly parts: readonly number[];
  readonly sum: number;
}

export function batches(): BatchCost[] {
  return CHUNK_ITEM.map(({ kb, name, writeUnits, objectKb }) => {
    const pushes = MILLION / kb;
    const seconds = pushes * PUSH.waitSeconds + PUSH_SECONDS_PER_GB;
    const objects = objectKb === undefined ? 0 : pushes;
    const parts = [
      millionth(pushes, 'gatewayRequest'),
      millionth(pushes, 'functionRequest') + functionSeconds(seconds, PUSH.memoryGb * 1024),
      millionth(pushes * writeUnits, 'tableWrite') +
        millionth(objects, 'objectPut') +
        millionth(objects, 'objectGet'),
    ];
    return { name, pushes, parts, sum: parts.reduce((all, one) => all + one, 0) };
  });
}

export function batchRows(): string[] {
  const rows = batches();
  const [smallest] = rows;
  const { objectKb = 0 } = CHUNK_ITEM[CHUNK_ITEM.length - 1];
  const keeping = (objectKb / 1000) * price('objectStorage');
  const years = Math.round(smallest.sum / keeping / 12 / 10) * 10;
  return [
    ...CHUNK_ITEM.map(({ name, itemKb, objectKb: kb, writeUnits }) => {
      return `| ${name} | ${itemKb} KB | ${kb === undefined ? 'none' : `${kb} KB`} | ${writeUnits} |`;
    }),
    ...rows.map(({ name, pushes, parts, sum }) => {
      return `| ${name} | ${whole(pushes)} | ${parts.map(one => one.toFixed(3)).join(' | ')} | **${sum.toFixed(2)}** |`;
    }),
    `costs about ${keeping.toFixed(3)} a month (${objectKb} KB stored for 1 MB)`,
    `as much as keeping it for ${years} years`,
  ];
}

/** Dollars of a query's requests to S3 and DynamoDB. */
const requestsOf = (gets: number, units: number) =>
  millionth(gets, 'objectGet') + millionth(units, 'tableRead');

export function queryRows(): string[] {
  const rows = REQUESTS_OF_QUERIES.map(({ name, coldGets, warmGets, readUnits, times }) => {
    const cost = (gets: number) => twoDigits(times * requestsOf(gets, readUnits));
    const cold = coldGets.map(gets => cost(gets)).join('; ');
    const counted = coldGets.map(gets => whole(gets)).join('; ');
    return `| ${name} | ${counted} | ${warmGets} | ${readUnits} | ${cold} | ${cost(warmGets)} |`;
  });
  const perThousand = millionth(1000, 'gatewayRequest') + millionth(1000, 'functionRequest');
  const second = functionSeconds(1000, QUERY_MEMORY_MB);
  const inGets = (second / 1000 / price('objectGet')) * MILLION;
  const secondsOf = (gets: number, units: number) => (1000 * requestsOf(gets, units)) / second;
  const [, count, , rare] = REQUESTS_OF_QUERIES;
  const dearest = REQUESTS_OF_QUERIES[REQUESTS_OF_QUERIES.length - 2];
  const refreshes = 10 * 2 * 60 * 8 * 22;
  const beats = (30 * 86_400) / 15;
  const looks = (30 * 86_400) / 5;
  return [
    ...rows,
    `cost ${perThousand.toFixed(4)} for 1,000 queries`,
    `in each is ${second.toFixed(3)}, as much as **${whole(inGets)} GETs**`,
    `the requests of the dearest query are worth ${secondsOf(dearest.coldGets[0], dearest.readUnits).toFixed(1)} s of such a function`,
    `those of the first four rows ${secondsOf(Math.max(...rare.coldGets), rare.readUnits).toFixed(2)} s at most when cold and ${secondsOf(0, rare.readUnits).toFixed(2)} s when warm`,
    `is ${whole(refreshes)} queries`,
    `$${(refreshes * requestsOf(0, count.readUnits)).toFixed(2)} of read units in a warm process, and $${(refreshes * requestsOf(count.coldGets[0], count.readUnits)).toFixed(2)} of requests in cold ones`,
    `in addition to $${((refreshes * perThousand) / 1000).toFixed(2)} for gateway and function requests`,
    `(${whole(beats)} write units a month, $${millionth(beats, 'tableWrite').toFixed(2)})`,
    `(${((looks * 4) / MILLION).toFixed(1)} million read units, $${millionth(looks * 4, 'tableRead').toFixed(2)})`,
    ...ingestSums(),
  ];
}

function ingestSums(): string[] {
  const { puts, writeUnits, mergeGets, mergePuts, mergeWriteUnits } = REQUESTS_OF_INGEST;
  const taken = millionth(puts, 'objectPut') + millionth(writeUnits, 'tableWrite');
  const merged =
    millionth(mergeGets, 'objectGet') +
    millionth(mergePuts, 'objectPut') +
    millionth(mergeWriteUnits, 'tableWrite');
  return [
    `Ingest: ${puts} PUTs, ${whole(writeUnits)} write units, $${taken.toFixed(4)} for a GB`,
    `${whole(mergeGets)} GETs, ${mergePuts} PUTs and ${whole(mergeWriteUnits)} write units, $${merged.toFixed(4)}`,
  ];
}
