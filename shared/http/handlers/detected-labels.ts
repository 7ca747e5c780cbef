/** detected_labels (wire-format reference, 3.7). */
import { DetectedLabels } from '../../insight/detected-labels.ts';
import type { HttpContext } from '../context.ts';
import { DEFAULT_SINCE_NS } from '../query-params.ts';
import { json } from '../respond.ts';
import type { Handler } from '../routes.ts';
import { visitLabelled } from './streams.ts';

export const listDetectedLabels: Handler<HttpContext> = async (context, request) => {
  const labels = new DetectedLabels();
  await visitLabelled(context, request, labels.add, DEFAULT_SINCE_NS);
  const detectedLabels = labels.list();
  // The reference leaves the list out where it is empty.
  return json(detectedLabels.length === 0 ? {} : { detectedLabels });
};
