import { html } from '../html.js';
import { apiPath, useResource } from '../data/api.js';
import { coversRejections, ofWish, wishText } from '../data/wishes.js';
import { Group, Tick, useForm } from '../parts/forms.js';
import { counted } from '../parts/format.js';
import { Text } from '../parts/parts.js';

/** @import { Account } from '../../api-types.ts' */
/** @import { Form } from '../parts/forms.js' */
/** @import { Resource } from '../data/api.js' */
/** @import { SubscriptionValues } from '../data/requests.js' */
/** @import { Wish } from '../data/wishes.js' */

const refreshMs = 60_000;

const choices = /** @type {const} */ ([
  ['rejections', 'Rejections', 'each filing that is rejected, and what happens to it while it is'],
  ['completed', 'Completed', 'each filing that is completed'],
  ['everything', 'Every change', 'whatever happens to any filing'],
  ['choose', 'Choose', 'events and statuses one by one'],
]);

/**
 * The question that the form begins with.
 * @param {{ account: string, isNew: boolean }} props
 */
export function WishChoice({ account, isNew }) {
  /** @type {Form<SubscriptionValues>} */
  const { values, set } = useForm();
  const choose = (/** @type {Wish} */ wish) => set(ofWish(wish));
  return html`<${Group} name="wish" legend="What do you want to hear of?">
    ${choices.map(
      ([wish, label, help]) =>
        html`<label key=${wish} class="tick"
          ><input type="radio" name="wish" checked=${values.wish === wish} onChange=${() => choose(wish)} />
          <span>${label} <span class="quiet">${help}</span></span></label
        >`,
    )}
    ${isNew && values.wish === 'rejections' && html`<${PresentOnes} account=${account} />`}
  <//>`;
}

// Filings that are rejected already cause no event.
/** @param {{ account: string }} props */
function PresentOnes({ account }) {
  /** @type {Form<SubscriptionValues>} */
  const { values, set } = useForm();
  /** @type {Resource<Account>} */
  const { data } = useResource(apiPath('accounts', account), refreshMs);
  const rejected = data?.counts['REJECTED'] ?? 0;
  if (rejected === 0) return null;
  const isTicked = values.from === 'state';
  return html`<${Tick}
    label=${`And ${counted(rejected, 'filing that is', 'filings that are')} rejected now`}
    help="Each is sent once as it is."
    checked=${isTicked}
    onToggle=${() => set({ from: isTicked ? 'now' : 'state' })}
  />`;
}

/** States what the subscription gets, in red if rejections are left out. */
export function WishSentence() {
  /** @type {Form<SubscriptionValues>} */
  const { values } = useForm();
  const covers = coversRejections(values);
  return html`<p class=${`notice ${covers ? 'info' : 'bad'}`} role="status">
    <${Text} value=${wishText(values)} />
    ${!covers && html` <strong>Rejections are left out: nobody is told of them by it.</strong>`}
  </p>`;
}
