import { useState } from '../vendor/hooks.js';
import { ActionButton, useAction } from '../parts/actions.js';
import { ChoiceField, problemOf, TextField, Group } from '../parts/fields.js';
import { CopyButton, Failure, Text } from '../parts/parts.js';
import { timeZone, number } from '../parts/format.js';
import { apiPath } from '../data/api-client.js';
import { useClient } from '../data/use-resource.js';
import { html } from '../html.js';
import { EventTicks, StatusTicks, StateChips } from './event-ticks.js';
import { selection } from './form-values.js';

/** @import { Action } from '../parts/actions.js' */
/** @import { ApiError } from '../data/api-client.js' */
/** @import { FormValues } from './form-values.js' */

/** @typedef {{ matched: number, of: number, undecided: number }} PreviewAnswer */

/** The fields of a request that stand on the form, each with its own fault beside it. */
export const shownFields = /** @type {const} */ ([
  'url',
  'description',
  'eventTypes',
  'statuses',
  'states',
  'filter',
  'headers',
  'format',
  'payload',
  'expiresAt',
  'from',
  'secret',
]);

const formats = /** @type {const} */ ([
  ['standard', 'Standard Webhooks (JSON)'],
  ['cloudevents', 'CloudEvents (JSON)'],
  ['slack', 'Slack message'],
  ['teams', 'Microsoft Teams card'],
]);

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
 * @param {{ account: string, values: FormValues, onChange: (part: Partial<FormValues>) => void, error:
 * ApiError | null, known?: readonly string[], isNew: boolean }} props `known`: the names of the headers that
 * there are
 */
export function SubscriptionFields({ account, values, onChange, error, known = [], isNew }) {
  const text = (/** @type {'url' | 'description' | 'filter' | 'expires' | 'secret'} */ name) => ({
    name,
    value: values[name],
    onInput: (/** @type {string} */ value) => onChange({ [name]: value }),
    problem: problemOf(error, name),
  });
  const choice = (/** @type {'format' | 'payload' | 'from'} */ name) => ({
    ...text(/** @type {any} */ (name)),
  });
  const ticks = (/** @type {'eventTypes' | 'statuses' | 'states'} */ name) => ({
    chosen: values[name],
    onChange: (/** @type {string[]} */ chosen) => onChange({ [name]: chosen }),
    problem: problemOf(error, name),
  });
  const trial = useAction();
  return html`<${TextField}
      ...${text('url')}
      label="Endpoint URL"
      help="Events are sent to it as signed POST requests."
      more=${{ type: 'url', required: true, placeholder: 'https://example.com/hooks/filings', autocomplete: 'off', spellcheck: false }}
    />
    <${TextField}
      ...${text('description')}
      label="Description"
      help="The name of the receiver on this page, such as “Billing system”."
      more=${{ maxlength: 500, autocomplete: 'off' }}
    />
    <${EventTicks} ...${ticks('eventTypes')} />
    <${StatusTicks} ...${ticks('statuses')} />
    <${StateChips} account=${account} ...${ticks('states')} />
    <${TextField}
      ...${text('filter')}
      problem=${problemOf(trial.error ?? error, 'filter')}
      label="Filter"
      help="An expression on the event; empty: all."
      beside=${html`<${Preview} trial=${trial} path=${apiPath('accounts', account, 'subscriptions', 'preview')} values=${values} />`}
      more=${{ maxlength: 2000, placeholder: 'filing.premium > 10000', autocomplete: 'off', spellcheck: false }}
    />
    <div class="halves">
      <${ChoiceField} ...${choice('format')} label="Format" options=${formats} />
      <${ChoiceField} ...${choice('payload')} label="Payload" options=${payloads} />
      <${TextField}
        ...${text('expires')}
        problem=${problemOf(error, 'expiresAt')}
        label="Expires"
        help=${`Nothing is sent from then on; empty: never. In ${timeZone()}.`}
        more=${{ type: 'datetime-local', step: 1 }}
      />
      ${isNew && html`<${ChoiceField} ...${choice('from')} label="Begin with" options=${beginnings} />`}
    </div>
    <${HeaderFields}
      headers=${values.headers}
      known=${known}
      onChange=${(/** @type {FormValues['headers']} */ headers) => onChange({ headers })}
      problem=${problemOf(error, 'headers')}
    />
    ${
      isNew &&
      html`<${TextField}
        ...${text('secret')}
        beside=${html`<${CopyButton} text=${values.secret} what="the signing secret" />`}
        label="Signing secret"
        help="Give it to the receiver, which checks the signatures with it. It is not shown again once you leave this page. Write another one over it if the receiver already has one."
        more=${{ class: 'secret', autocomplete: 'off', spellcheck: false }}
      />`
    }`;
}

/**
 * A button that says how many of the latest events the settings select.
 * @param {{ trial: Action, path: string, values: FormValues }} props
 */
function Preview({ trial, path, values }) {
  const client = useClient();
  const [found, setFound] = useState(/** @type {PreviewAnswer | null} */ (null));
  const work = async () => {
    setFound(null);
    setFound(await client.send('POST', path, selection(values)));
  };
  return html`<${ActionButton} action=${trial} work=${work}>Try on the latest events<//>
    <span role="status"
      >${found && `${number(found.matched)} of ${number(found.of)} match, ${number(found.undecided)} undecided.`}</span
    >
    ${!trial.error?.errors.length && html`<${Failure} error=${trial.error} what="try it" />`}`;
}

/**
 * The custom headers of a subscription. Their values are never shown again, so those that there are either
 * stay as a whole or are all given anew.
 * @param {{ headers: readonly { name: string, value: string }[] | null, known: readonly string[], onChange:
 * (headers: { name: string, value: string }[] | null) => void, problem: string | null }} props `known`: the
 * names of those that there are
 */
export function HeaderFields({ headers, known, onChange, problem }) {
  const rows = headers ?? [];
  const set = (/** @type {number} */ place, /** @type {Partial<{ name: string, value: string }>} */ part) =>
    onChange(rows.map((row, at) => (at === place ? { ...row, ...part } : row)));
  const replace = () => onChange(known.map((name) => ({ name, value: '' })));
  if (headers === null && known.length > 0)
    return html`<${Group} legend="Custom headers" problem=${problem}>
      <p>Kept as they are: <${Text} value=${known.join(', ')} />. Their values are hidden.</p>
      <button type="button" onClick=${replace}>Replace all headers</button>
    <//>`;
  return html`<${Group}
    legend="Custom headers"
    problem=${problem}
    help="Sent with every request, for example an authorization that the receiver expects. Values are sealed and never shown again."
  >
    ${rows.map(
      ({ name, value }, place) =>
        html`<div key=${place} class="pair">
          <input
            aria-label=${`Name of header ${place + 1}`}
            placeholder="Name"
            autocomplete="off"
            spellcheck="false"
            value=${name}
            onInput=${(/** @type {InputEvent} */ event) => set(place, { name: textOf(event) })}
          />
          <input
            aria-label=${`Value of header ${place + 1}`}
            placeholder="Value"
            autocomplete="off"
            spellcheck="false"
            value=${value}
            onInput=${(/** @type {InputEvent} */ event) => set(place, { value: textOf(event) })}
          />
          <button
            type="button"
            aria-label=${`Remove header ${place + 1}`}
            onClick=${() => onChange(rows.filter((_, at) => at !== place))}
          >
            Remove
          </button>
        </div>`,
    )}
    <div class="buttons">
      <button type="button" onClick=${() => onChange([...rows, { name: '', value: '' }])}>
        Add a header
      </button>
      ${known.length > 0 && html`<button type="button" onClick=${() => onChange(null)}>Keep the present headers</button>`}
    </div>
  <//>`;
}

/** @type {(event: InputEvent) => string} */
const textOf = ({ currentTarget }) => /** @type {HTMLInputElement} */ (currentTarget).value;
