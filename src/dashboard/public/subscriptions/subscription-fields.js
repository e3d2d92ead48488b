import { html, useState } from '../html.js';
import { eventMeanings, statusTones } from '../catalogue.js';
import { apiPath, useClient } from '../data/api.js';
import { ActionButton, Field, Group, Tick, toggled, useAction, useForm, valueOf } from '../parts/forms.js';
import { number, timeZone } from '../parts/format.js';
import { CopyButton } from '../parts/copying.js';
import { Failure, Text } from '../parts/parts.js';
import { selection } from '../data/requests.js';
import { formatOfUrl, formats, isForPeople } from '../data/wishes.js';
import { WishChoice, WishSentence } from './wish.js';

/** @import { Action, Form } from '../parts/forms.js' */
/** @import { SubscriptionValues } from '../data/requests.js' */

const payloads = /** @type {const} */ ([
  ['full', 'Full: with the whole filing'],
  ['thin', 'Thin: without the filing'],
]);

const beginnings = /** @type {const} */ ([
  ['now', 'Now: only what happens from now on'],
  ['earliest', 'Earliest: first everything that is still in the log'],
  ['state', 'State: first every filing as it is now, once'],
]);

/**
 * The fields of a new or a changed subscription.
 * @param {{ account: string, known?: readonly string[], isNew?: boolean }} props `known`: the names of the
 * headers that there are
 */
export function SubscriptionFields({ account, known = [], isNew = false }) {
  /** @type {Form<SubscriptionValues>} */
  const { values, set } = useForm();
  const trial = useAction();
  const isMail = formatOfUrl(values.url) === 'email';
  const isMessage = isForPeople(values);
  return html`<${Field}
      name="url"
      label="Endpoint URL"
      help=${
        isMail
          ? 'Each event is sent to it as an e-mail.'
          : 'Events are sent to it as signed POST requests; mailto: with an address gets e-mail.'
      }
      type="url"
      required
      placeholder="https://example.com/hooks/filings"
    />
    <${Field}
      name="description"
      label="Description"
      help="The name of the receiver on this page, such as “Billing system”."
      maxlength="500"
      spellcheck
    />
    <${WishChoice} account=${account} isNew=${isNew} />
    ${values.wish === 'choose' && html`<${EventTicks} /><${StatusTicks} />`}
    <${Field}
      name="states"
      label="Only filings of these states"
      help="Empty: every state. Events without a state, such as those of the account, always come."
      placeholder="TX, FL"
    />
    <${Field}
      name="filter"
      wrong=${trial.error}
      label="Filter"
      help="An expression on the event; empty: all."
      beside=${html`<${Preview} trial=${trial} account=${account} values=${values} />`}
      maxlength="2000"
      placeholder="filing.premium > 10000"
    />
    <div class="halves">
      ${!isMail && html`<${Field} name="format" label="Format" options=${formats} />`}
      ${!isMessage && html`<${Field} name="payload" label="Payload" options=${payloads} />`}
      <${Field}
        name="expiresAt"
        label="Expires"
        help=${`Nothing is sent from then on; empty: never. In ${timeZone()}.`}
        type="datetime-local"
        step="1"
      />
      ${
        isNew &&
        values.wish !== 'rejections' &&
        html`<${Field} name="from" label="Begin with" options=${beginnings} />`
      }
    </div>
    <${Tick}
      label="Enable it again by itself"
      help="Once it was disabled because its endpoint failed for days: the endpoint is asked every hour."
      checked=${values.autoEnable}
      onToggle=${() => set({ autoEnable: !values.autoEnable })}
    />
    ${(!isMessage || (!isMail && known.length > 0)) && html`<${HeaderFields} known=${known} />`}
    ${!isMessage && html`<p class="quiet">Rate, timeout, retries, OAuth, TLS and signatures with key pairs are set with the <a href="docs/">API</a>.</p>`}
    ${
      isNew &&
      !isMessage &&
      html`<${Field}
        name="secret"
        beside=${html`<${CopyButton} text=${values.secret} what="the signing secret" />`}
        label="Signing secret"
        help="Give it to the receiver, which checks the signatures with it. It is not shown again once you leave this page. Write another one over it if the receiver already has one."
        class="secret"
      />`
    }
    <${WishSentence} />`;
}

// A button that says how many of the latest events the settings select.
/** @param {{ trial: Action, account: string, values: SubscriptionValues }} props */
function Preview({ trial, account, values }) {
  const client = useClient();
  const [found, setFound] = useState(
    /** @type {{ matched: number, of: number, undecided: number } | null} */ (null),
  );
  const work = async () => {
    setFound(null);
    const path = apiPath('accounts', account, 'subscriptions', 'preview');
    setFound(await client.send('POST', path, selection(values)));
  };
  return html`<${ActionButton} action=${trial} work=${work}>Try on the latest events<//>
    <span role="status"
      >${found && `${number(found.matched)} of ${number(found.of)} match, ${number(found.undecided)} undecided.`}</span
    >
    ${!trial.error?.errors.length && html`<${Failure} error=${trial.error} what="try it" />`}`;
}

// No pattern but its own name stands for it.
const notedType = 'filing.noted';

// The types of the log by the pattern that stands for all of them: `filing.*` → its types.
const eventGroups = Map.groupBy(
  Object.keys(eventMeanings).filter((type) => type !== notedType),
  (type) => `${type.slice(0, type.indexOf('.'))}.*`,
);
/** @type {Readonly<Record<string, string>>} */
const groupTitles = {
  'filing.*': 'Filings',
  'account.*': 'Polling of the account',
  'subscription.*': 'Deliveries',
};

function EventTicks() {
  /** @type {Form<SubscriptionValues>} */
  const { values, set } = useForm();
  const { eventTypes } = values;
  return html`<${Group}
    name="eventTypes"
    legend="Events"
    help=${eventTypes.length === 0 ? 'Choose at least one event.' : undefined}
  >
    ${[...eventGroups].map(
      ([pattern, types]) => html`<${EventGroup} key=${pattern} pattern=${pattern} types=${types} />`,
    )}
    <${Tick}
      label=${html`<code>${notedType}</code>`}
      help=${eventMeanings[notedType]}
      checked=${eventTypes.includes(notedType)}
      onToggle=${() => set({ eventTypes: toggled(eventTypes, notedType) })}
    />
  <//>`;
}

// A pattern takes the place of its types, which cannot be taken out of it one by one.
/** @param {{ pattern: string, types: string[] }} props */
function EventGroup({ pattern, types }) {
  /** @type {Form<SubscriptionValues>} */
  const { values, set } = useForm();
  const chosen = values.eventTypes;
  const isWhole = chosen.includes(pattern);
  const count = isWhole ? types.length : types.filter((type) => chosen.includes(type)).length;
  // Folded at first if nothing of it is chosen; from then on as the user has it.
  const [isOpen] = useState(count > 0);
  const others = chosen.filter((one) => !types.includes(one));
  return html`<details open=${isOpen}>
    <summary>
      ${groupTitles[pattern] ?? pattern}
      <span class="quiet">${count === types.length ? 'all' : `${count} of ${types.length}`}</span>
    </summary>
    <${Tick}
      label=${html`<strong>Every ${pattern.slice(0, -2)} event</strong>`}
      help="Also those that later versions add."
      checked=${isWhole}
      onToggle=${() => set({ eventTypes: toggled(others, pattern) })}
    />
    <div class="ticks">
      ${types.map(
        (type) =>
          html`<${Tick}
            key=${type}
            label=${html`<code>${type}</code>`}
            help=${eventMeanings[type]}
            checked=${isWhole || chosen.includes(type)}
            isFixed=${isWhole}
            onToggle=${() => set({ eventTypes: toggled(chosen, type) })}
          />`,
      )}
    </div>
  </details>`;
}

function StatusTicks() {
  /** @type {Form<SubscriptionValues>} */
  const { values, set } = useForm();
  const chosen = values.statuses;
  const statuses = [...new Set([...Object.keys(statusTones), ...chosen])];
  return html`<${Group}
    name="statuses"
    legend="Only with these statuses"
    help="None ticked: any status. Tick REJECTED to get every rejection, also of a filing that is rejected when it is first seen."
  >
    <div class="row">
      ${statuses.map(
        (status) =>
          html`<${Tick}
            key=${status}
            label=${html`<bdi>${status}</bdi>`}
            checked=${chosen.includes(status)}
            onToggle=${() => set({ statuses: toggled(chosen, status) })}
          />`,
      )}
    </div>
  <//>`;
}

// The values of headers are never shown again: those that there are stay as a whole, or are all replaced.
/** @param {{ known: readonly string[] }} props `known`: the names of those that there are */
function HeaderFields({ known }) {
  /** @type {Form<SubscriptionValues>} */
  const { values, set } = useForm();
  const { headers } = values;
  if (headers === null && known.length > 0)
    return html`<${Group} name="headers" legend="Custom headers">
      <p>Kept as they are: <${Text} value=${known.join(', ')} />. Their values are hidden.</p>
      <button type="button" onClick=${() => set({ headers: known.map((name) => ({ name, value: '' })) })}>
        Replace all headers
      </button>
    <//>`;
  const rows = headers ?? [];
  const input = (/** @type {number} */ place, /** @type {'name' | 'value'} */ part, label = '') =>
    html`<input
      aria-label=${`${label} of header ${place + 1}`}
      placeholder=${label}
      autocomplete="off"
      spellcheck="false"
      value=${rows[place]?.[part]}
      onInput=${(/** @type {Event} */ event) =>
        set({ headers: rows.map((row, at) => (at === place ? { ...row, [part]: valueOf(event) } : row)) })}
    />`;
  return html`<${Group}
    name="headers"
    legend="Custom headers"
    help="Sent with every request, for example an authorization that the receiver expects. Values are sealed and never shown again."
  >
    ${rows.map(
      (_, place) =>
        html`<div key=${place} class="pair">
          ${input(place, 'name', 'Name')} ${input(place, 'value', 'Value')}
          <button
            type="button"
            aria-label=${`Remove header ${place + 1}`}
            onClick=${() => set({ headers: rows.filter((_row, at) => at !== place) })}
          >
            Remove
          </button>
        </div>`,
    )}
    <div class="buttons">
      <button type="button" onClick=${() => set({ headers: [...rows, { name: '', value: '' }] })}>
        Add a header
      </button>
      ${known.length > 0 && html`<button type="button" onClick=${() => set({ headers: null })}>Keep the present headers</button>`}
    </div>
  <//>`;
}
