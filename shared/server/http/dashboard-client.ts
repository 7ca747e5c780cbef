/**
 * Recognizes requests whose response Grafana displays to a person. Their limits cut the response and add a warning, which
 * Grafana shows at the panel; other clients get the reference's error.
 *
 *     User-Agent: Grafana/12.1.0                          set by Grafana's server on requests of every data source
 *     X-Query-Tags: Source=grafana-lokiexplore-app        Logs Drilldown
 *     FromAlert: true                                     Grafana evaluates an alert rule
 *
 * Pitfall: alert rules are evaluated by the same data source. An alert that is computed from a part of the data can be
 * wrong without a visible warning, so these requests get the error.
 */
import type { HttpRequest } from './message.ts';

const GRAFANA_AGENT = /^Grafana\//;
const DRILLDOWN_TAG = /(^|,)\s*Source=grafana-lokiexplore-app/i;

export function showsPartialResults(headers: HttpRequest['headers']): boolean {
  const { fromalert, 'user-agent': agent = '', 'x-query-tags': tags = '' } = headers;
  if (fromalert !== undefined) return false;
  return GRAFANA_AGENT.test(agent) || DRILLDOWN_TAG.test(tags);
}
