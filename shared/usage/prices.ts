/** What AWS asks for, and how much of it a push takes. The defaults stand in docs/cost.md, with their date. */

/** In one currency. Millions are 1,000,000; GB are 1,000,000,000 bytes, but of memory 1,073,741,824. */
export interface Prices {
  /** One million requests that put, and that read, an object. */
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

/** US East (N. Virginia), US dollars, list prices. */
export const DEFAULT_PRICES: Prices = Object.freeze({
  objectPutMillion: 5,
  objectGetMillion: 0.4,
  objectStorageGbMonth: 0.023,
  tableWriteMillion: 0.625,
  tableReadMillion: 0.125,
  tableStorageGbMonth: 0.25,
  functionRequestMillion: 0.2,
  functionGbSecond: 0.0000133334,
  gatewayRequestMillion: 1,
});
