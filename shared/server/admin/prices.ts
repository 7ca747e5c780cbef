/**
 * List prices of AWS, and the share of them that a push causes. Contains all prices that this project uses,
 * with their dates. docs/dev/cost-model.md lists them, and a test keeps both equal.
 */

/**
 * Prices in one currency. A million is 1,000,000. A GB is 1,000,000,000 bytes, but 1,073,741,824 bytes of
 * memory.
 */
export interface Prices {
  /** One million requests that put an object, and that get one. */
  readonly objectPutMillion: number;
  readonly objectGetMillion: number;
  readonly objectStorageGbMonth: number;
  /** One million write units of 1 KB, and read units of 4 KB. */
  readonly tableWriteMillion: number;
  readonly tableReadMillion: number;
  readonly tableStorageGbMonth: number;
  readonly functionRequestMillion: number;
  readonly functionGbSecond: number;
  /** One million requests of up to 512 KB. */
  readonly gatewayRequestMillion: number;
}

/** Price in US dollars, for US East (N. Virginia) if regions differ. */
export interface ListPrice {
  readonly what: string;
  readonly price: number;
  /** Unit of the price. */
  readonly per: string;
  /** Month in which it was recorded. */
  readonly asOf: string;
}

/** List prices without any free tier. */
export const LIST_PRICES = Object.freeze({
  objectPut: { what: 'S3 Standard, PUT', price: 5, per: '1,000,000', asOf: '2026-11' },
  objectGet: { what: 'S3 Standard, GET', price: 0.4, per: '1,000,000', asOf: '2026-11' },
  objectStorage: { what: 'S3 Standard, storage', price: 0.023, per: 'GB and month', asOf: '2026-11' },
  tableWrite: {
    what: 'DynamoDB on demand, write request unit (1 KB)',
    price: 0.625,
    per: '1,000,000',
    asOf: '2026-11',
  },
  tableRead: {
    what: 'DynamoDB on demand, read request unit (4 KB, strongly consistent)',
    price: 0.125,
    per: '1,000,000',
    asOf: '2026-11',
  },
  tableStorage: { what: 'DynamoDB, storage', price: 0.25, per: 'GB and month', asOf: '2026-11' },
  functionRequest: { what: 'Lambda, requests', price: 0.2, per: '1,000,000', asOf: '2026-11' },
  functionGbSecond: { what: 'Lambda, arm64', price: 0.0000133334, per: 'GB-second', asOf: '2026-11' },
  gatewayRequest: {
    what: 'API Gateway, HTTP API, requests of up to 512 KB',
    price: 1,
    per: '1,000,000',
    asOf: '2026-11',
  },
  schedulerCall: { what: 'EventBridge Scheduler, calls', price: 1, per: '1,000,000', asOf: '2026-11' },
  edgeRequest: { what: 'CloudFront, HTTPS requests', price: 1, per: '1,000,000', asOf: '2026-11' },
  edgeToOrigin: { what: 'CloudFront, transfer to the origin', price: 0.02, per: 'GB', asOf: '2026-11' },
  edgeToInternet: { what: 'CloudFront, transfer to the internet', price: 0.085, per: 'GB', asOf: '2026-11' },
  alarm: { what: 'CloudWatch, alarm', price: 0.1, per: 'month', asOf: '2026-11' },
  metric: { what: 'CloudWatch, metric', price: 0.3, per: 'month', asOf: '2026-11' },
  dashboard: { what: 'CloudWatch, dashboard', price: 3, per: 'month', asOf: '2026-11' },
  logsIngested: { what: 'CloudWatch Logs, ingestion', price: 0.5, per: 'GB', asOf: '2026-11' },
  logsStored: {
    what: 'CloudWatch Logs, compressed storage',
    price: 0.03,
    per: 'GB and month',
    asOf: '2026-11',
  },
  logsScanned: { what: 'CloudWatch Logs, scanned by a query', price: 0.005, per: 'GB', asOf: '2026-11' },
  secret: { what: 'Secrets Manager, secret', price: 0.4, per: 'month', asOf: '2026-11' },
  key: { what: 'KMS, key', price: 1, per: 'month', asOf: '2026-11' },
  containerCpuHour: { what: 'Fargate, arm64, vCPU', price: 0.03238, per: 'hour', asOf: '2026-11' },
  containerGbHour: { what: 'Fargate, arm64, GB of memory', price: 0.00356, per: 'hour', asOf: '2026-11' },
  balancerHour: { what: 'Application Load Balancer', price: 0.0225, per: 'hour', asOf: '2026-11' },
  balancerUnit: {
    what: 'Application Load Balancer, capacity unit (1 GB an hour)',
    price: 0.008,
    per: 'hour',
    asOf: '2026-11',
  },
  addressHour: { what: 'VPC, public IPv4 address', price: 0.005, per: 'hour', asOf: '2026-11' },
  instanceHour: { what: 'EC2, m7g.large on demand', price: 0.0816, per: 'hour', asOf: '2026-11' },
  zoneTransfer: { what: 'EC2, transfer between zones, each way', price: 0.01, per: 'GB', asOf: '2026-11' },
} satisfies Record<string, ListPrice>);

/** The prices that a tenant's usage is multiplied by. */
export const DEFAULT_PRICES: Prices = Object.freeze({
  objectPutMillion: LIST_PRICES.objectPut.price,
  objectGetMillion: LIST_PRICES.objectGet.price,
  objectStorageGbMonth: LIST_PRICES.objectStorage.price,
  tableWriteMillion: LIST_PRICES.tableWrite.price,
  tableReadMillion: LIST_PRICES.tableRead.price,
  tableStorageGbMonth: LIST_PRICES.tableStorage.price,
  functionRequestMillion: LIST_PRICES.functionRequest.price,
  functionGbSecond: LIST_PRICES.functionGbSecond.price,
  gatewayRequestMillion: LIST_PRICES.gatewayRequest.price,
});
