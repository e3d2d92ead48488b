import { html, useEffect, useRef, useState } from '../html.js';
import { apiPath, useClient, useList, useResource } from '../data/api.js';
import { replayRequest } from '../data/requests.js';
import { Choice, DialogButton } from '../parts/forms.js';
import { counted, fullTime, number, timeZone } from '../parts/format.js';
import { Badge, Failure, Notice, Section, Text, When } from '../parts/parts.js';
import { ListTable } from '../parts/tables.js';
import { useMayWrite } from '../session.js';

/** @import { Replay, Subscription } from '../../api-types.ts' */
/** @import { List, Resource } from '../data/api.js' */

const whichEvents = /** @type {const} */ ([
  ['dead', 'Dead letters only'],
  ['hour', 'The last hour'],
  ['day', 'The last day'],
  ['week', 'The last week'],
  ['all', 'Everything that is still in the log'],
  ['between', 'Between two times'],
]);

/**
 * Delivers events again: asks which, counts them, and starts once that is confirmed.
 * @param {{ path: string, subscription: Subscription, onStarted: () => void }} props `path`: of the
 * subscription
 */
export function ReplayButton({ path, subscription, onStarted }) {
  const client = useClient();
  const [isBetween, setBetween] = useState(false);
  const [matched, setMatched] = useState(/** @type {number | null} */ (null));
  // The request that was counted is the one that is sent, though the last hour has moved on meanwhile.
  const asked = useRef({});
  const ask = (/** @type {FormData | null} */ form) => {
    setBetween(form?.get('which') === 'between');
    setMatched(null);
  };
  const count = async (/** @type {FormData} */ form) => {
    const values = /** @type {Record<string, string>} */ (Object.fromEntries(form));
    asked.current = replayRequest(values, client.now());
    const answer = await client.send('POST', `${path}/replay?dryRun=true`, asked.current);
    setMatched(answer.matched);
    return 'stay';
  };
  const start = async () => {
    await client.send('POST', `${path}/replay`, asked.current);
    onStarted();
  };
  const isReady = matched !== null && matched > 0;
  return html`<${DialogButton}
    label="Replay …"
    verb=${isReady ? `Replay ${counted(matched, 'event')}` : 'Count events'}
    what=${isReady ? 'start the replay' : 'count the events'}
    work=${isReady ? start : count}
    onInput=${ask}
    onClose=${() => ask(null)}
  >
    <p>Delivers events again under their old ids. A receiver that remembers the ids handles nothing twice.</p>
    <${Choice} name="which" legend="Which events" value="dead" options=${whichEvents} />
    ${
      isBetween &&
      html`<label>From <input type="datetime-local" step="1" name="after" /></label>
        <label>Until <input type="datetime-local" step="1" name="before" /></label>
        <p class="quiet">Times are in ${timeZone()}. Leave one empty for no limit on that side.</p>`
    }
    <label
      >Only the filing
      <input
        name="filingId"
        autocomplete="off"
        spellcheck="false"
        maxlength="256"
        placeholder="Any filing; or the id of one"
    /></label>
    <div aria-live="polite">
      ${
        matched === 0 &&
        html`<${Notice}>
          No event matches, so nothing would be delivered
          again.${subscription.lag > 0 && ` ${number(subscription.lag)} pending go out by themselves.`}
        <//>`
      }
      ${isReady && html`<${Confirmation} matched=${matched} subscription=${subscription} />`}
    </div>
  <//>`;
}

/** @param {{ matched: number, subscription: Subscription }} props */
function Confirmation({ matched, subscription: { state, lag } }) {
  const them = matched === 1 ? 'it waits' : 'they wait';
  return html`<${Notice} tone=${state === 'active' ? 'info' : 'warn'}>
    <p>
      <strong>${counted(matched, 'event')}</strong> ${matched === 1 ? 'matches' : 'match'} and will be sent
      again.
    </p>
    ${
      state === 'failing' &&
      html`<p>
        The endpoint is failing: ${them} until it works
        again${lag > 0 && `, beside ${counted(lag, 'pending delivery', 'pending deliveries')}`}.
      </p>`
    }
    ${state === 'disabled' && html`<p>The subscription is disabled: ${them} until it is enabled.</p>`}
  <//>`;
}

const runningMs = 1000;
const idleMs = 15_000;

/**
 * The replays of a subscription, newest first, with their progress; nothing if there are none.
 * @param {{ path: string, turn: number }} props `path`: of the subscription; another `turn` reads them at
 * once
 */
export function Replays({ path, turn }) {
  const [everyMs, setEveryMs] = useState(runningMs);
  const mayWrite = useMayWrite();
  /** @type {List<Replay>} */
  const list = useList(`${path}/replays?limit=10`, everyMs);
  const { data, error, reload } = list;
  const isRunning = data?.items.some(({ state }) => state === 'running') ?? true;
  useEffect(() => setEveryMs(isRunning ? runningMs : idleMs), [isRunning]);
  useEffect(reload, [turn]);
  if (data === null || data.items.length === 0)
    return html`<${Failure} error=${error} what="read the replays" />`;
  const row = (/** @type {Replay} */ replay) => ({
    key: replay.id,
    cells: [
      html`<${When} at=${replay.createdAt} />`,
      html`<${Text} value=${conditionsOf(replay)} />`,
      html`<${Badge} word=${replay.state} tone=${replay.failed > 0 ? 'warn' : undefined} />`,
      html`<${Progress} replay=${replay} matched=${replay.matched} />`,
      mayWrite && html`<${Cancel} path=${path} replay=${replay} onDone=${reload} />`,
    ],
  });
  return html`<${Section} title="Replays">
    <${ListTable}
      of=${list}
      what="the replays"
      caption="Replays, newest first"
      columns=${['Requested', 'Which', 'State', 'Progress', ...(mayWrite ? ['Action'] : [])]}
      rowsOf=${(/** @type {Replay[]} */ replays) => replays.map(row)}
      empty=""
    />
  <//>`;
}

/** @type {(replay: Replay) => string} */
function conditionsOf({ conditions }) {
  const { after, before, eventTypes, filingId, deadLettersOnly, eventIds } = conditions;
  if (conditions.fromState) return 'each filing as it is';
  const time = (/** @type {string} */ at) => fullTime(Date.parse(at));
  const parts = [
    deadLettersOnly ? 'dead letters' : '',
    eventIds === null ? '' : counted(eventIds.length, 'event'),
    after === null ? '' : `from ${time(after)}`,
    before === null ? '' : `until ${time(before)}`,
    filingId === null ? '' : `filing ${filingId}`,
    eventTypes === null ? '' : eventTypes.join(', '),
  ].filter((part) => part !== '');
  return parts.length === 0 ? 'everything in the log' : parts.join(', ');
}

/** @param {{ replay: Replay | null, matched: number }} props `replay`: null until it was read */
function Progress({ replay, matched }) {
  const { state = 'running', delivered = 0, failed = 0 } = replay ?? {};
  const stage = { running: 'In progress', finished: 'Finished', cancelled: 'Cancelled' }[state];
  const given = failed === 0 ? '' : `, ${number(failed)} given up again`;
  return html`<span>${stage}: ${number(delivered)} of ${number(matched)} delivered${given}.</span> ${
      state === 'running' &&
      html`<progress max=${matched} value=${delivered + failed} aria-label="Replayed events"></progress>`
    }`;
}

/** @param {{ path: string, replay: Replay, onDone: () => void }} props */
function Cancel({ path, replay: { id, state, matched, delivered, failed }, onDone }) {
  const client = useClient();
  const cancel = async () => {
    await client.send('DELETE', `${path}/replays/${encodeURIComponent(id)}`);
    onDone();
  };
  if (state !== 'running') return html`<span class="none">–</span>`;
  return html`<${DialogButton}
    label="Cancel …"
    title="Cancel the replay"
    verb="Cancel the replay"
    refusal="Let it go on"
    kind="danger"
    work=${cancel}
  >
    <p>
      ${matched - delivered - failed} of ${matched} events are not sent again. What was delivered stays
      delivered. New events are not affected.
    </p>
  <//>`;
}

/**
 * How far a replay is, until it has finished.
 * @param {{ account: string, started: { id: string, matched: number } }} props
 */
export function ReplayProgress({ account, started: { id, matched } }) {
  /** @type {Resource<Replay>} */
  const { data, error } = useResource(apiPath('accounts', account, 'replays', id), runningMs);
  if (matched === 0)
    return html`<${Notice}>The event is no longer in the log, so it cannot be sent again.<//>`;
  return html`<${Notice} tone=${data !== null && data.failed > 0 ? 'warn' : 'good'}>
    <${Progress} replay=${data} matched=${matched} />
    <${Failure} error=${error} what="see how far it is" />
  <//>`;
}
