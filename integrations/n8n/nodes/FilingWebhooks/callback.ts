import type { IDataObject, IWebhookFunctions, IWebhookResponseData } from 'n8n-workflow';
import { isStale, learn, readMemory, rememberId, rememberSequence, writeMemory, type Memory } from './memory';
import { refusal } from './signature';
import { readSubscription } from './subscription';

/** What a trigger of this process knows beside static data: n8n keeps that only between requests, and each request has a copy of its own. */
interface Live extends Memory {
  /** Ids of events whose callback is not answered yet. */
  readonly inFlight: Set<string>;
}

/** A trigger's memory in this process, by workflow, node and mode. */
const lives = new Map<string, Live>();

/**
 * Takes a callback: refuses a forged one with 401, acknowledges repeats and the `ping` without an execution, and starts one with any other
 * event. An id counts as known once its callback was answered with 2xx; static data has it from the next callback on. A crash of n8n before
 * the answer therefore repeats an event rather than losing it.
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

  const wrong = refusal(
    readSubscription(data)?.secret ?? '',
    request.headers,
    request.rawBody ?? Buffer.alloc(0),
    Date.now(),
  );
  if (wrong !== null) return answer(401, { error: wrong });

  const id = String(request.headers['webhook-id']);
  const event = this.getBodyData();
  if (event['type'] === 'ping') return answer(200, { ping: 'verified' });

  const options = this.getNodeParameter('options', {}) as { repeats?: string; stale?: string };
  const live = liveOf.call(this, data);
  if (live.inFlight.has(id)) return answer(409, { error: 'this event is being processed' });
  const repeated = live.ids.has(id) && options.repeats !== 'run';
  const stale = noteSequence(live, event);
  const dropped = repeated || (stale && options.stale === 'drop');
  if (dropped) rememberId(live, id);
  keep(data, live);
  if (dropped) return answer(200, { repeated, stale });

  live.inFlight.add(id);
  response.once('close', () => {
    live.inFlight.delete(id);
    if (response.writableFinished && response.statusCode < 300) rememberId(live, id);
  });
  return { workflowData: [this.helpers.returnJsonArray([{ id, ...event, stale }])] };
}

/** Whether the event is older than one of its filing that was taken before; its sequence is remembered. */
function noteSequence(live: Live, event: IDataObject): boolean {
  const { filingId, sequence } = (event['data'] ?? {}) as IDataObject;
  if (typeof filingId !== 'string' || typeof sequence !== 'number') return false;
  const stale = isStale(live, filingId, sequence);
  rememberSequence(live, filingId, sequence);
  return stale;
}

function liveOf(this: IWebhookFunctions, data: IDataObject): Live {
  const name = `${this.getWorkflow().id ?? ''} ${this.getNode().id} ${this.getMode()}`;
  const live = lives.get(name) ?? { ids: new Set(), sequences: new Map(), inFlight: new Set() };
  lives.set(name, live);
  learn(live, readMemory(data['memory']));
  return live;
}

function keep(data: IDataObject, live: Live): void {
  data['memory'] = writeMemory(live);
}
