import type { Bundle, ZObject } from 'zapier-platform-core';
import { callApi } from '../api.ts';
import type { FilingEvent } from '../catalogue.ts';
import type { Selection } from './subscription.ts';

// Number of samples; the editor shows three.
const samplesMax = 3;

/**
 * The latest events that the Zap would have got, as the editor's samples. Where there are none yet, the examples of the daemon's own catalogue
 * stand in, in the same shape.
 */
export async function findSamples(z: ZObject, bundle: Bundle, selection: Selection): Promise<FilingEvent[]> {
  const found = isPlain(selection) ? await latest(z, bundle, selection) : await preview(z, bundle, selection);
  return found.length > 0 ? found : await examples(z, bundle, selection);
}

function isPlain({ statuses, states, filter }: Selection): boolean {
  return statuses === undefined && states === undefined && filter === undefined;
}

async function latest(z: ZObject, bundle: Bundle, { eventTypes }: Selection): Promise<FilingEvent[]> {
  const { items } = await callApi<{ items: FilingEvent[] }>(z, bundle, {
    path: '/events',
    query: { order: 'newest', types: eventTypes.join(','), limit: samplesMax },
  });
  return items;
}

/** The daemon tries the settings on its log: it alone can judge a filter. */
async function preview(z: ZObject, bundle: Bundle, selection: Selection): Promise<FilingEvent[]> {
  const { samples } = await callApi<{ samples: FilingEvent[] }>(z, bundle, {
    method: 'POST',
    path: '/subscriptions/preview',
    body: selection,
  });
  return samples.slice(0, samplesMax);
}

async function examples(z: ZObject, bundle: Bundle, { eventTypes }: Selection): Promise<FilingEvent[]> {
  const { items } = await callApi<{ items: { type: string; example: Omit<FilingEvent, 'id'> }[] }>(
    z,
    bundle,
    {
      path: '/v1/event-types',
    },
  );
  return items
    .filter(({ type }) => matches(eventTypes, type))
    .slice(0, samplesMax)
    .map(({ example }, i) => ({ id: `evt_${String(i + 1).padStart(32, '0')}`, ...example }));
}

/** Whether a subscription's `eventTypes` name this type, exactly or as `prefix.*`. */
function matches(eventTypes: readonly string[], type: string): boolean {
  return eventTypes.some(
    (wanted) => wanted === type || (wanted.endsWith('.*') && type.startsWith(wanted.slice(0, -1))),
  );
}
