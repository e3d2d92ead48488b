import type { IDataObject, IWebhookFunctions, IWebhookResponseData } from 'n8n-workflow';
import { readList } from './api';
import {
  idsMax,
  isStale,
  learnSequences,
  newMemory,
  rememberId,
  rememberSequence,
  writeSequences,
  type Memory,
} from './memory';
import { refusal } from './signature';
import { readSubscription, type OwnSubscription } from './subscription';

/** What a trigger of this process knows. n8n does not reliably keep what a callback that starts an execution writes into static data. */
interface Live extends Memory {
  /** Ids of events whose callback is not answered yet. */
  readonly inFlight: Set<string>;
  /** When the daemon was last asked what it has delivered, in milliseconds; 0 before that. */
  askedAt: number;
}

/** Milliseconds between two questions to the daemon, and the age from which an unknown event may have been delivered before. */
const askEveryMs = 60_000;

/** When this process began, in milliseconds. */
const startedAt = Date.now();

/** A trigger's memory in this process, by workflow, node and mode. */
const lives = new Map<string, Live>();

/**
 * Takes a callback: refuses a forged one with 401, acknowledges repeats and the `ping` without an execution, and starts one with any other
 * event. An id counts as known once its callback was answered with 2xx. Of what another process has taken, and this one before it was restarted,
 * the daemon knows: its latest deliveries are read before an event that is not fresh starts an execution. A crash of n8n before the answer
 * therefore repeats an event rather than losing it.
 */
export async function takeCallback(this: IWebhookFunctions): Promise<IWebhookResponseData> {
  const data = this.getWorkflowStaticData('node');
  const request = this.getRequestObject() as ReturnType<IWebhookFunctions['getRequestObject']> & {
    rawBody?: Buffer;
  };
  const response = this.getResponseObject();
  const answer = (status: number, body: IDataObject): IWebhookResponseData => {
    response.status(status).json(body);
    return { noWebhookResponse: true };
  };

  const own = readSubscription(data);
  const wrong = refusal(own?.secret ?? '', request.headers, request.rawBody ?? Buffer.alloc(0), Date.now());
  if (wrong !== null) return answer(401, { error: wrong });

  const id = String(request.headers['webhook-id']);
  const event = this.getBodyData();
  if (event['type'] === 'ping') return answer(200, { ping: 'verified' });

  const options = this.getNodeParameter('options', {}) as { repeats?: string; stale?: string };
  const live = liveOf.call(this, data);
  if (live.inFlight.has(id)) return answer(409, { error: 'this event is being processed' });
  live.inFlight.add(id);
  response.once('close', () => {
    live.inFlight.delete(id);
    if (response.writableFinished && response.statusCode < 300) rememberId(live, id);
  });
  if (own !== null && !live.ids.has(id) && !isFresh(event)) await learnDelivered.call(this, live, own);
  const repeated = live.ids.has(id) && options.repeats !== 'run';
  const stale = noteSequence(live, event);
  data['sequences'] = writeSequences(live);
  if (repeated || (stale && options.stale === 'drop')) return answer(200, { repeated, stale });
  const attempt = Number(request.headers['webhook-attempt'] ?? 1);
  return { workflowData: [this.helpers.returnJsonArray([{ id, ...event, attempt, stale }])] };
}

/** Whether the event is older than one of its filing that was taken before; its sequence is remembered. */
function noteSequence(live: Live, event: IDataObject): boolean {
  const { filingId, sequence } = (event['data'] ?? {}) as IDataObject;
  if (typeof filingId !== 'string' || typeof sequence !== 'number') return false;
  const stale = isStale(live, filingId, sequence);
  rememberSequence(live, filingId, sequence);
  return stale;
}

/** Whether an event is so new that no other callback can have brought it: younger than a minute and than this process. */
function isFresh({ timestamp }: IDataObject): boolean {
  return Date.parse(String(timestamp)) > Math.max(startedAt, Date.now() - askEveryMs);
}

/** Remembers the latest events that the daemon has delivered to the subscription, once a minute at most. Where it cannot be asked, nothing is learnt. */
async function learnDelivered(this: IWebhookFunctions, live: Live, { id }: OwnSubscription): Promise<void> {
  if (Date.now() - live.askedAt < askEveryMs) return;
  live.askedAt = Date.now();
  const query = { outcome: 'delivered' };
  try {
    const attempts = await readList.call(this, `subscriptions/${id}/attempts`, query, idsMax);
    for (const { eventId } of attempts.toReversed()) rememberId(live, String(eventId));
  } catch (error) {
    this.logger.warn(`filing-webhooks could not be asked what it has delivered: ${(error as Error).message}`);
  }
}

function liveOf(this: IWebhookFunctions, data: IDataObject): Live {
  const name = `${this.getWorkflow().id ?? ''} ${this.getNode().id} ${this.getMode()}`;
  const live = lives.get(name) ?? { ...newMemory(), inFlight: new Set(), askedAt: 0 };
  lives.set(name, live);
  learnSequences(live, data['sequences']);
  return live;
}
