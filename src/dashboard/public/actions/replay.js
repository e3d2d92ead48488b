import { useRef, useState } from '../vendor/hooks.js';
import { Dialog, DialogForm, useAction } from './actions.js';
import { Tick } from './fields.js';
import { replayRequest, whichEvents } from './replay-request.js';
import { timeZone } from '../attempts/local-time.js';
import { eventMeanings } from '../catalogue.js';
import { useClient } from '../data/use-resource.js';
import { number } from '../parts/format.js';
import { html } from '../parts/html.js';
import { Notice } from '../parts/parts.js';
import { toggled } from '../subscriptions/event-ticks.js';

/** @import { Subscription } from '../../api-types.ts' */
/** @import { ReplayValues } from './replay-request.js' */

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
