import { useRef, useState, useEffect } from '../vendor/hooks.js';
import { Dialog, DialogForm, useAction, ConfirmButton } from '../parts/actions.js';
import { Tick } from '../parts/fields.js';
import { timeZone, number, fullTime } from '../parts/format.js';
import { eventMeanings } from '../catalogue.js';
import { useClient, useList, useResource } from '../data/use-resource.js';
import { html } from '../html.js';
import { Notice, Badge, Failure, Text, When } from '../parts/parts.js';
import { toggled } from '../subscriptions/event-ticks.js';
import { useMayWrite } from '../session.js';
import { Table } from '../parts/table.js';
import { apiPath } from '../data/api-client.js';

import { replayRequest, whichEvents } from './replay-request.js';

/** @import { ReplayValues } from './replay-request.js' */
/** @import { Subscription, Replay } from '../../api-types.ts' */
/** @import { List, Resource } from '../data/use-resource.js' */
/** @import { Tone } from '../parts/parts.js' */

/** @type {ReplayValues} */
const nothingChosen = { which: 'dead', after: '', before: '', filingId: '', eventTypes: [] };

/**
 * Delivers events again: asks which, counts them, and starts once that is confirmed.
 * @param {{ path: string, subscription: Subscription, onStarted: () => void }} props `path`: of the
 * subscription
 */
export function ReplayButton({ path, subscription, onStarted }) {
  const [open, setOpen] = useState(false);
  const close = () => setOpen(false);
  const started = () => {
    close();
    onStarted();
  };
  return html`<button type="button" onClick=${() => setOpen(true)}>Replay …</button>
    <${Dialog} title="Replay" open=${open} onClose=${close}>
      <${ReplayForm} path=${path} subscription=${subscription} onCancel=${close} onStarted=${started} />
    <//>`;
}

/**
 * @param {{ path: string, subscription: Subscription, onCancel: () => void, onStarted: () => void }} props
 */
function ReplayForm({ path, subscription, onCancel, onStarted }) {
  const client = useClient();
  const action = useAction();
  const [values, setValues] = useState(nothingChosen);
  const [matched, setMatched] = useState(/** @type {number | null} */ (null));
  // The request that was counted is the one that is sent, though the last hour has moved on meanwhile.
  const counted = useRef({});
  const set = (/** @type {Partial<ReplayValues>} */ part) => {
    setValues({ ...values, ...part });
    setMatched(null);
  };
  const count = async () => {
    counted.current = replayRequest(values, client.now());
    const answer = await client.send('POST', `${path}/replay?dryRun=true`, counted.current);
    setMatched(answer.matched);
  };
  const start = async () => {
    await client.send('POST', `${path}/replay`, counted.current);
    onStarted();
  };
  const ready = matched !== null && matched > 0;
  return html`<${DialogForm}
    action=${action}
    work=${ready ? start : count}
    verb=${ready ? `Replay ${eventsOf(matched)}` : 'Count events'}
    what=${ready ? 'start the replay' : 'count the events'}
    onCancel=${onCancel}
  >
    <p>Delivers events again under their old ids. A receiver that heeds the ids does nothing twice.</p>
    <${Which} values=${values} set=${set} />
    <${Only} values=${values} set=${set} />
    <div aria-live="polite">
      ${
        matched === 0 &&
        html`<${Notice}>
          No event matches, so nothing would be delivered
          again.${subscription.lag > 0 && ` ${number(subscription.lag)} pending go out by themselves.`}
        <//>`
      }
      ${ready && html`<${Confirmation} matched=${matched} subscription=${subscription} />`}
    </div>
  <//>`;
}

/** @param {{ values: ReplayValues, set: (part: Partial<ReplayValues>) => void }} props */
function Which({ values, set }) {
  const time = (/** @type {'after' | 'before'} */ name, /** @type {string} */ label) =>
    html`<label
      >${label}
      <input
        type="datetime-local"
        step="1"
        value=${values[name]}
        onInput=${(/** @type {InputEvent} */ event) => set({ [name]: textOf(event) })}
    /></label>`;
  return html`<fieldset>
      <legend>Which events</legend>
      ${whichEvents.map(
        ([which, label]) =>
          html`<label key=${which}
            ><input
              type="radio"
              name="which"
              value=${which}
              checked=${values.which === which}
              onChange=${() => set({ which })}
            />
            ${label}</label
          >`,
      )}
    </fieldset>
    ${
      values.which === 'between' &&
      html`${time('after', 'From')} ${time('before', 'Until')}
        <p class="quiet">Times are in ${timeZone()}. Leave one empty for no limit on that side.</p>`
    }`;
}

/** @param {{ values: ReplayValues, set: (part: Partial<ReplayValues>) => void }} props */
function Only({ values: { filingId, eventTypes }, set }) {
  return html`<label
      >Only the filing
      <input
        value=${filingId}
        autocomplete="off"
        spellcheck="false"
        maxlength="256"
        placeholder="Any filing; or the id of one"
        onInput=${(/** @type {InputEvent} */ event) => set({ filingId: textOf(event) })}
    /></label>
    <details>
      <summary>
        Only some event types
        <span class="quiet">${eventTypes.length === 0 ? 'all' : eventTypes.length}</span>
      </summary>
      <div class="narrow-ticks">
        ${Object.keys(eventMeanings).map(
          (type) =>
            html`<${Tick}
              key=${type}
              label=${html`<code>${type}</code>`}
              checked=${eventTypes.includes(type)}
              onToggle=${() => set({ eventTypes: toggled(eventTypes, type) })}
            />`,
        )}
      </div>
    </details>`;
}

/** @param {{ matched: number, subscription: Subscription }} props */
function Confirmation({ matched, subscription: { state, lag } }) {
  const them = matched === 1 ? 'it waits' : 'they wait';
  return html`<${Notice} tone=${state === 'active' ? 'info' : 'warn'}>
    <p>
      <strong>${eventsOf(matched)}</strong> ${matched === 1 ? 'matches' : 'match'} and will be sent again.
    </p>
    ${
      state === 'failing' &&
      html`<p>
        The endpoint is failing: ${them} until it works
        again${lag > 0 && `, beside ${number(lag)} pending ${lag === 1 ? 'delivery' : 'deliveries'}`}.
      </p>`
    }
    ${state === 'disabled' && html`<p>The subscription is disabled: ${them} until it is enabled.</p>`}
  <//>`;
}

/** @type {(count: number) => string} */
const eventsOf = (count) => `${number(count)} ${count === 1 ? 'event' : 'events'}`;

/** @type {(event: InputEvent) => string} */
const textOf = ({ currentTarget }) => /** @type {HTMLInputElement} */ (currentTarget).value;

const runningMs = 1000;
const idleMs = 15_000;

/** @type {Readonly<Record<Replay['state'], Tone>>} */
const tones = { running: 'busy', finished: 'good', cancelled: 'plain' };

/**
 * The replays of a subscription, newest first, with their progress; nothing if there are none.
 * @param {{ path: string, turn: number }} props `path`: of the subscription; another `turn` reads them at
 * once
 */
export function Replays({ path, turn }) {
  const [everyMs, setEveryMs] = useState(runningMs);
  const mayWrite = useMayWrite();
  /** @type {List<Replay>} */
  const { data, error, showMore, reload } = useList(`${path}/replays?limit=10`, everyMs);
  const isRunning = data?.items.some(({ state }) => state === 'running') ?? true;
  useEffect(() => setEveryMs(isRunning ? runningMs : idleMs), [isRunning]);
  useEffect(reload, [turn]);
  if (data === null) return html`<${Failure} error=${error} what="read the replays" />`;
  if (data.items.length === 0) return null;
  return html`<section aria-labelledby="replays">
    <h2 id="replays">Replays</h2>
    <${Failure} error=${error} what="read the replays again" />
    <${Table}
      caption="Replays, newest first"
      columns=${['Requested', 'Which', 'State', 'ProgressOf', ...(mayWrite ? ['Action'] : [])]}
      rows=${data.items.map((replay) => ({
        key: replay.id,
        cells: [
          html`<${When} at=${replay.createdAt} />`,
          html`<${Text} value=${conditionsOf(replay)} />`,
          html`<${Badge} word=${replay.state} tone=${replay.failed > 0 ? 'warn' : tones[replay.state]} />`,
          html`<${ProgressOf} replay=${replay} />`,
          ...(mayWrite ? [cancelOf(path, replay, reload)] : []),
        ],
      }))}
      empty=""
      more=${data.more}
      onMore=${showMore}
    />
  </section>`;
}

/** @type {(replay: Replay) => string} */
function conditionsOf({ conditions }) {
  const { after, before, eventTypes, filingId, deadLettersOnly, eventIds } = conditions;
  if (conditions.fromState) return 'each filing as it is';
  const time = (/** @type {string} */ at) => fullTime(Date.parse(at));
  const parts = [
    deadLettersOnly ? 'dead letters' : '',
    eventIds === null ? '' : eventIds.length === 1 ? 'one event' : `${eventIds.length} events`,
    after === null ? '' : `from ${time(after)}`,
    before === null ? '' : `until ${time(before)}`,
    filingId === null ? '' : `filing ${filingId}`,
    eventTypes === null ? '' : eventTypes.join(', '),
  ].filter((part) => part !== '');
  return parts.length === 0 ? 'everything in the log' : parts.join(', ');
}

/** @param {{ replay: Replay }} props */
function ProgressOf({ replay }) {
  const { state, matched, delivered, failed } = replay;
  return html`<span>${progressText(replay, matched)}</span> ${
      state === 'running' &&
      html`<progress max=${matched} value=${delivered + failed} aria-label="Replayed events"></progress>`
    }`;
}

/** @type {(path: string, replay: Replay, onDone: () => void) => unknown} */
function cancelOf(path, replay, onDone) {
  if (replay.state !== 'running') return html`<span class="none">–</span>`;
  return html`<${Cancel} path=${path} replay=${replay} onDone=${onDone} />`;
}

/** @param {{ path: string, replay: Replay, onDone: () => void }} props */
function Cancel({ path, replay: { id, matched, delivered, failed }, onDone }) {
  const client = useClient();
  const cancel = async () => {
    await client.send('DELETE', `${path}/replays/${encodeURIComponent(id)}`);
    onDone();
  };
  return html`<${ConfirmButton}
    label="Cancel …"
    title="Cancel the replay"
    verb="Cancel the replay"
    refusal="Let it go on"
    what="cancel the replay"
    kind="danger"
    work=${cancel}
  >
    <p>
      ${matched - delivered - failed} of ${matched} events are not sent again. What was delivered stays
      delivered. New events are not affected.
    </p>
  <//>`;
}

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
