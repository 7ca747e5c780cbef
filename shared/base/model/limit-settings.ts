/**
 * Maps an error message to the setting behind it. The messages are the reference's and cannot change, and
 * some of them name an administrator instead of a setting. The explorer and the commands show the setting
 * next to the message (docs/reference/limits.md).
 *
 *     settingOfRefusal('ingestion rate limit exceeded for user a (limit: ...')    // 'limits_config.ingestion_rate_mb'
 */

/** Message texts. Each one occurs only in the messages of one limit. */
const SETTINGS: readonly (readonly [text: string, setting: string])[] = [
  ['ingestion rate limit exceeded', 'limits_config.ingestion_rate_mb'],
  ['Per stream rate limit exceeded', 'limits_config.per_stream_rate_limit'],
  ['maximum active stream limit exceeded', 'limits_config.max_global_streams_per_user'],
  ['the query time range exceeds the limit', 'limits_config.max_query_length'],
  ['reached for a single query', 'limits_config.max_query_series'],
  ['max entries limit per query exceeded', 'limits_config.max_entries_limit_per_query'],
  ['too many outstanding requests', 'frontend.max_outstanding_per_tenant'],
];

/**
 * Returns the setting, or `undefined` if the message is not about one of these limits. Messages about single
 * entries name their setting themselves.
 */
export function settingOfRefusal(message: string): string | undefined {
  return SETTINGS.find(([text]) => message.includes(text))?.[1];
}
