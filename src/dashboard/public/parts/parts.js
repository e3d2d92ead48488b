import { html, useEffect, useId, useRef } from '../html.js';
import { useFaults } from '../data/daemon.js';
import { isAway, useClient } from '../data/api.js';
import { eventTones, statusTones } from '../catalogue.js';
import { clockTime, duration, fullTime, relativeTime, spaced, toneOfAge } from './format.js';
import { href } from '../router.js';

/** @import { ComponentChildren } from 'preact' */
/** @import { ApiError, Resource } from '../data/api.js' */
/** @import { Tone } from '../catalogue.js' */

/** @type {ReadonlyMap<string, Tone>} */
const tones = new Map([
  ...Object.entries(eventTones),
  ...Object.entries(statusTones),
  ['ok', 'good'],
  ['baselining', 'busy'],
  ['backing_off', 'warn'],
  ['auth_failed', 'bad'],
  ['doubtful', 'bad'],
  ['stale', 'bad'],
  ['active', 'good'],
  ['degraded', 'warn'],
  ['failing', 'bad'],
  ['unverified', 'warn'],
  ['disabled', 'plain'],
  ['delivered', 'good'],
  ['running', 'busy'],
  ['finished', 'good'],
]);

/**
 * Text of another party. Its writing direction is isolated, so an override in it turns nothing around it.
 * @param {{ value: string | number | null | undefined }} props null and empty show a dash
 */
export function Text({ value }) {
  if (value === null || value === undefined || value === '') return html`<span class="none">–</span>`;
  return html`<bdi class="text">${value}</bdi>`;
}

/**
 * A status, type or state as a coloured word. Unknown words are shown as they are.
 * @param {{ word: string, tone?: Tone }} props
 */
export function Badge({ word, tone }) {
  return html`<bdi class=${`badge ${tone ?? tones.get(word) ?? 'plain'}`}>${spaced(word)}</bdi>`;
}

/** Milliseconds on the daemon's clock. */
export const useNow = () => useClient().now();

/**
 * A time of the API; the full time is its title.
 * @param {{ at: string, show: (ms: number) => ComponentChildren, kind?: string }} props
 */
function Time({ at, show, kind }) {
  const ms = Date.parse(at);
  if (Number.isNaN(ms)) return html`<${Text} value=${at} />`;
  return html`<time class=${kind} datetime=${at} title=${fullTime(ms)}>${show(ms)}</time>`;
}

/**
 * A time as its distance from now, with the clock's time beside it on devices that cannot hover.
 * @param {{ at: string | null, never?: string }} props
 */
export function When({ at, never = 'never' }) {
  const now = useNow();
  if (at === null) return html`<span class="none">${never}</span>`;
  const show = (/** @type {number} */ ms) => html`${relativeTime(ms, now)}${clockBeside(ms, now)}`;
  return html`<${Time} at=${at} show=${show} />`;
}

/**
 * A time as the clock shows it, with seconds; with its day unless that is today.
 * @param {{ at: string }} props
 */
export function At({ at }) {
  const now = useNow();
  return html`<${Time} at=${at} show=${(/** @type {number} */ ms) => clockTime(ms, now, true)} />`;
}

/**
 * How long something has lasted, with a colour from a day on unless one is given.
 * @param {{ since: string, atLeast?: boolean, tone?: Tone }} props `atLeast`: its beginning was not seen
 */
export function Age({ since, atLeast = false, tone }) {
  const now = useNow();
  const age = Math.max(1000, now - Date.parse(since));
  const show = (/** @type {number} */ ms) => html`${atLeast && '≥ '}${duration(age)}${clockBeside(ms, now)}`;
  return html`<${Time} at=${since} kind=${`age ${tone ?? toneOfAge(age)}`} show=${show} />`;
}

/** @type {(ms: number, now: number) => ComponentChildren} */
const clockBeside = (ms, now) => html`<span class="absolute">${` · ${clockTime(ms, now)}`}</span>`;

/**
 * The page's heading: names the page in the browser's history, and takes the focus after a link was followed.
 * @param {{ title: string, crumbs?: [name: string, href: string][], children?: ComponentChildren }} props
 */
export function Heading({ title, crumbs = [], children }) {
  const heading = useRef(/** @type {HTMLHeadingElement | null} */ (null));
  useEffect(() => {
    document.title = `${title} · filing-webhooks`;
  }, [title]);
  useEffect(() => {
    if (document.body.dataset['visited'] === 'yes') heading.current?.focus();
    document.body.dataset['visited'] = 'yes';
  }, []);
  return html`<div class="heading">
    ${
      crumbs.length > 0 &&
      html`<nav aria-label="Where you are" class="crumbs">
        <ol>
          ${crumbs.map(
            ([name, to]) =>
              html`<li key=${to}>
                <a href=${to}><bdi>${name}</bdi></a>
              </li>`,
          )}
        </ol>
      </nav>`
    }
    <div class="title">
      <h1 ref=${heading} tabindex="-1"><bdi class="text">${title}</bdi></h1>
      ${children}
    </div>
  </div>`;
}

/**
 * A link, seen with the focus alone, past everything before an element that can take the focus.
 * @param {{ to: string, children?: ComponentChildren }} props `to`: its id
 */
export function SkipLink({ to, children }) {
  const skip = (/** @type {Event} */ event) => {
    event.preventDefault(); // the part behind # is the page
    document.getElementById(to)?.focus();
  };
  return html`<a class="skip" href=${`#${to}`} onClick=${skip}>${children}</a>`;
}

/**
 * A part of a page with its heading.
 * @param {{ title: ComponentChildren, children?: ComponentChildren }} props
 */
export function Section({ title, children }) {
  const id = useId();
  return html`<section aria-labelledby=${id}>
    <h2 id=${id}>${title}</h2>
    ${children}
  </section>`;
}

/**
 * Names and values; a `wide` one gets more room.
 * @param {{ items: (false | [name: string, value: ComponentChildren, width?: 'wide'])[] }} props `false`:
 * none
 */
export function Facts({ items }) {
  return html`<dl class="facts">
    ${items
      .filter((item) => item !== false)
      .map(
        ([name, value, width]) =>
          html`<div key=${name} class=${width}>
            <dt>${name}</dt>
            <dd>${value}</dd>
          </div>`,
      )}
  </dl>`;
}

/** @param {{ what: string }} props */
export function Loading({ what }) {
  return html`<p class="loading" role="status">Loading ${what} …</p>`;
}

/**
 * What is not there, in the words of this page: the API names requests that find it.
 * @type {Readonly<Record<string, string>>}
 */
const missing = {
  account_not_found: 'There is no such account.',
  subscription_not_found: 'There is no such subscription. It may have been deleted.',
  attempt_not_found: 'There is no such attempt. Attempts are kept as long as events.',
  token_not_found: 'There is no such token. It may have been revoked.',
  replay_not_found: 'There is no such replay. It may have been deleted with its subscription.',
};

/**
 * The reason why a read or an action failed. Other data on the page may be old. Nothing is
 * shown of a failed reading (`what` begins with "read") while the banner above the page says why.
 * @param {{ error: ApiError | null, what: string }} props `what` completes "Could not …"
 */
export function Failure({ error, what }) {
  const faults = useFaults();
  if (error === null || (what.startsWith('read ') && faults.length > 0 && isAway(error))) return null;
  return html`<p class="notice bad" role="alert">
    <strong>Could not ${what}.</strong> <${Text} value=${missing[error.code] ?? error.message} />
    ${error.code === 'account_not_found' && html` <a href=${href()}>Begin at the start</a>`}
  </p>`;
}

/**
 * What is read: a line until it is there, why it could not be read, and what `show` makes of it.
 * @template T
 * @param {Pick<Resource<T>, 'data' | 'error'>} of
 * @param {string} what completes "Could not read …"
 * @param {(data: T) => ComponentChildren} show
 */
export function whenRead({ data, error }, what, show) {
  return html`<${Failure} error=${error} what=${`read ${what}`} />
    ${data === null && error === null && html`<${Loading} what=${what} />`} ${data !== null && show(data)}`;
}

/** @param {{ tone?: Tone, children?: ComponentChildren }} props */
export function Notice({ tone = 'info', children }) {
  return html`<div class=${`notice ${tone}`} role="status">${children}</div>`;
}

/** In place of a form, for users who may not change anything. */
export function OnlyReading() {
  return html`<p class="empty">
    Your token or link only reads, so there is nothing to change here for you.
  </p>`;
}

/**
 * A link to a filing, by the name that people know it by; a dash for null.
 * @param {{ account: string, filingId: string | null, name?: string | null }} props
 */
export function FilingLink({ account, filingId, name }) {
  if (filingId === null) return html`<${Text} value=${null} />`;
  return html`<a href=${href('accounts', account, 'filing', filingId)}
    ><${Text} value=${name?.trim() ? name : filingId}
  /></a>`;
}
