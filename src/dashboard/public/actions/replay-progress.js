import { apiPath } from '../data/api-client.js';
import { useResource } from '../data/use-resource.js';
import { number } from '../parts/format.js';
import { html } from '../parts/html.js';
import { Failure, Notice } from '../parts/parts.js';

/** @import { Replay } from '../../api-types.ts' */
/** @import { Resource } from '../data/use-resource.js' */

const lookEveryMs = 1000;

/**
 * How far a replay is, until it has finished.
 * @param {{ account: string, started: { id: string, matched: number } }} props
 */
export function ReplayProgress({ account, started: { id, matched } }) {
  if (matched === 0)
    return html`<${Notice} tone="info">The event is no longer in the log, so it cannot be sent again.<//>`;
  return html`<${Progress} path=${apiPath('accounts', account, 'replays', id)} matched=${matched} />`;
}

/** @param {{ path: string, matched: number }} props */
function Progress({ path, matched }) {
  /** @type {Resource<Replay>} */
  const { data: replay, error } = useResource(path, lookEveryMs);
  const isOver = replay !== null && replay.state !== 'running';
  return html`<${Notice} tone=${isOver && replay.failed > 0 ? 'warn' : 'good'}>
    <p>${progressText(replay, matched)}</p>
    ${!isOver && html`<progress max=${matched} value=${doneOf(replay)} aria-label="Replayed events"></progress>`}
    <${Failure} error=${error} what="see how far it is" />
  <//>`;
}

/**
 * How far a replay is, as a sentence; pure.
 * @param {Pick<Replay, 'state' | 'delivered' | 'failed'> | null} replay null: not known yet
 * @param {number} matched
 */
export function progressText(replay, matched) {
  const { state = 'running', delivered = 0, failed = 0 } = replay ?? {};
  const stage = { running: 'In progress', finished: 'Finished', cancelled: 'Cancelled' }[state] ?? state;
  const given = failed === 0 ? '' : `, ${number(failed)} given up again`;
  return `${stage}: ${number(delivered)} of ${number(matched)} delivered${given}.`;
}

/** @type {(replay: Replay | null) => number} */
const doneOf = (replay) => (replay?.delivered ?? 0) + (replay?.failed ?? 0);
