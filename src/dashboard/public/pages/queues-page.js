import { useResource } from '../data/use-resource.js';
import { number } from '../parts/format.js';
import { html } from '../parts/html.js';
import { Badge, Failure, Heading, Loading, Text, When } from '../parts/parts.js';
import { Table } from '../parts/table.js';

/** @import { QueueState } from '../data/api-types.d.ts' */
/** @import { Resource } from '../data/use-resource.js' */
/** @import { Tone } from '../parts/parts.js' */

const refreshMs = 5000;
const columns = [
  'Queue',
  'State',
  'Waiting',
  'Oldest waiting',
  'Active',
  'Delayed',
  'Failed',
  'Schedulers',
  'Late',
  'Workers',
];

/** The contents of the job queues; for the operator. */
export function QueuesPage() {
  /** @type {Resource<{ items: QueueState[] }>} */
  const { data, error } = useResource('v1/queues', refreshMs);
  return html`<${Heading} title="Queues" />
    <${Failure} error=${error} what="read the queues" />
    ${data === null && error === null && html`<${Loading} what="the queues" />`}
    ${
      data !== null &&
      html`<${Table}
        caption="Queues"
        columns=${columns}
        rows=${data.items.map((queue) => ({ key: queue.name, cells: cellsOf(queue) }))}
        empty="There is no queue."
      />`
    }
    <p class="quiet">
      Jobs start polls and drains. Events that wait for a subscriber are the lag of its subscription.
    </p>`;
}

/** @param {QueueState} queue */
function cellsOf({ name, jobs, schedulers, workers, oldestWaitingAt, ...queue }) {
  const [state, tone] = stateOf({ schedulers, workers, ...queue });
  return [
    html`<${Text} value=${name} />`,
    html`<${Badge} word=${state} tone=${tone} />`,
    number(jobs.waiting),
    html`<${When} at=${oldestWaitingAt} never="none waits" />`,
    number(jobs.active),
    number(jobs.delayed),
    number(jobs.failed),
    number(schedulers.count),
    number(schedulers.late),
    workers === null ? html`<${Text} value=${null} />` : number(workers),
  ];
}

/** @type {(queue: Pick<QueueState, 'paused' | 'schedulers' | 'workers'>) => [string, Tone]} */
function stateOf({ paused, schedulers, workers }) {
  if (paused) return ['paused', 'warn'];
  if (workers === 0) return ['no worker', 'bad'];
  return schedulers.late > 0 ? ['late', 'bad'] : ['ok', 'good'];
}
